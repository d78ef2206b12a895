// What every client of others is put through. Prints one line a check and ends with 1 at the first that fails.
// A client is {name, era, sdk, call(name, args, options), onElicit(handler)}: `sdk` is the library's own object.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const textOf = (result) => result.content.map((part) => part.text).join('');

// The refusal of a JSON-RPC error, as both generations of the library throw it.
async function errorOf(promise) {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  assert.fail('it was answered');
}

const checks = {
  async 'the tools of the loadout, with schemas and annotations'({ sdk }) {
    const { tools } = await sdk.listTools();
    const byName = Object.fromEntries(tools.map((tool) => [tool.name, tool]));
    for (const name of ['run_shell', 'run_script', 'write_artifact', 'read_artifact', 'edit_artifact'])
      assert.ok(byName[name], name);
    assert.equal(byName.read_artifact.annotations.readOnlyHint, true);
    assert.equal(byName.write_artifact.annotations.readOnlyHint, false);
    assert.equal(byName.run_shell.inputSchema.type, 'object');
    assert.equal(byName.run_shell.outputSchema, undefined);
  },

  async 'a command and its text'({ call }) {
    const result = await call('run_shell', { cmd: 'echo hello' });
    assert.notEqual(result.isError, true);
    assert.equal(result.structuredContent, undefined);
    assert.equal(result.content[0].text, 'exit_code: 0\nstdout: hello\n\nstderr: ');
  },

  async 'edit, build, commit'({ call }) {
    const steps = [
      ['write_artifact', { path: 'a.py', content: 'print(1)\n' }],
      ['edit_artifact', { path: 'a.py', old: '1', new: '42' }],
      ['run_shell', { cmd: 'python3 a.py' }],
      ['run_shell', { cmd: 'git init -q .' }],
      ['run_shell', { cmd: 'git add a.py' }],
      ['run_shell', { argv: ['git', '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'one'] }],
      ['run_shell', { cmd: 'git log --oneline' }],
    ];
    const texts = [];
    for (const [name, args] of steps) {
      const result = await call(name, args);
      assert.notEqual(result.isError, true, `${name}: ${textOf(result)}`);
      texts.push(textOf(result));
    }
    assert.match(texts[2], /stdout: 42/);
    assert.match(texts[6], / one\n/);
  },

  async 'a refusal is a result with the gate that refused'({ call }) {
    const result = await call('write_artifact', { path: '../outside', content: 'x' });
    assert.equal(result.isError, true);
    assert.match(textOf(result), /^refused by path: /);
  },

  async 'an unknown tool is -32602'({ call }) {
    assert.equal((await errorOf(call('no_such_tool', {}))).code, -32602);
  },

  async 'output comes as progress while the call runs'({ call }) {
    const heard = [];
    let first = 0;
    const result = await call(
      'run_script',
      { interpreter: 'bash', code: 'for i in 1 2 3; do echo line $i; sleep 0.3; done' },
      {
        onprogress: (progress) => {
          first ||= Date.now();
          heard.push(progress);
        },
      },
    );
    assert.ok(Date.now() - first > 400, 'the first line came long before the end');
    assert.match(heard.map((progress) => progress.message).join(''), /line 1\n[^]*line 3\n/);
    assert.ok(heard.every((progress, i) => i === 0 || progress.progress > heard[i - 1].progress));
    assert.match(textOf(result), /line 3/);
  },

  async 'a call that is called off ends with everything it started'({ call, workspace }) {
    const abort = new AbortController();
    const sleep = `sleep 61.${process.pid}`;
    const count = () => spawnSync('pgrep', ['-fxc', sleep]).stdout.toString().trim();
    const running = call(
      'run_script',
      { interpreter: 'bash', code: `echo x > late; ${sleep} & ${sleep}` },
      { signal: abort.signal },
    );
    while (count() !== '2') await pause(20);
    abort.abort('enough');
    await errorOf(running);
    for (let tries = 0; tries < 100 && count() !== '0'; tries += 1) await pause(20);
    assert.equal(count(), '0');
    assert.ok(!existsSync(join(workspace, 'late')));
  },

  async 'who has to be asked is asked, and a yes counts for that call alone'({ call, onElicit }) {
    let asked = [];
    let reply = { action: 'accept', content: { answer: 'once' } };
    onElicit((params) => {
      asked.push(params.message);
      return reply;
    });
    const yes = await call('run_shell', { cmd: 'touch asked-for' });
    assert.notEqual(yes.isError, true, textOf(yes));
    assert.equal(asked.length, 1);
    assert.match(asked[0], /touch asked-for/);
    for (const no of [{ action: 'decline' }, { action: 'cancel' }, { action: 'accept', content: { answer: 'no' } }]) {
      reply = no;
      const result = await call('run_shell', { cmd: 'touch asked-for' });
      assert.equal(result.isError, true);
      assert.match(textOf(result), /^refused by approval: /);
    }
    assert.equal(asked.length, 4);
  },

  async 'what only the operator may approve is not asked here'({ call, onElicit }) {
    onElicit(() => assert.fail('it was asked'));
    const result = await call('run_shell', { cmd: 'touch operators-only' });
    assert.equal(result.isError, true);
    assert.match(textOf(result), /waiting for approval [a-z0-9-]+: the user has to approve it/);
  },

  async 'the transcript as a resource'({ sdk }) {
    const { resources } = await sdk.listResources();
    assert.equal(resources.length, 1);
    const { contents } = await sdk.readResource({ uri: resources[0].uri });
    const lines = contents[0].text.trim().split('\n').map((line) => JSON.parse(line));
    assert.ok(lines.some((line) => line.tool === 'run_shell'));
    const code = (await errorOf(sdk.readResource({ uri: 'cloche://nothing' }))).code;
    assert.ok([-32002, -32602].includes(code), `code ${code}`);
  },

  async 'the skill as a prompt'({ sdk }) {
    const { prompts } = await sdk.listPrompts();
    assert.deepEqual(prompts.map((prompt) => prompt.name), ['greeting']);
    const { messages } = await sdk.getPrompt({ name: 'greeting' });
    assert.match(messages[0].content.text, /Say hello/);
    assert.equal((await errorOf(sdk.getPrompt({ name: 'none' }))).code, -32602);
  },

  async '50 calls at once'({ call }) {
    const results = await Promise.all(Array.from({ length: 50 }, (_, i) => call('run_shell', { cmd: `echo n${i}` })));
    results.forEach((result, i) => assert.equal(result.content[0].text, `exit_code: 0\nstdout: n${i}\n\nstderr: `));
  },
};

export async function runChecks(client) {
  for (const [name, check] of Object.entries(checks)) {
    try {
      await check(client);
      console.log(`ok ${client.name}: ${name}`);
    } catch (error) {
      console.log(`FAILED ${client.name}: ${name}: ${error.stack}`);
      process.exit(1);
    }
  }
}

// `node SCRIPT CLOCHE WORKSPACE [MODE]`
export function serverFor(cloche, workspace) {
  return {
    command: cloche,
    args: ['mcp', '--workspace', workspace, '--prompt', join(workspace, '..', 'SKILL.md')],
    env: { ...process.env },
    stderr: 'inherit',
  };
}
