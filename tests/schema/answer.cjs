// Reads one {"schema", "value"} a line and answers with one letter each: v valid, i invalid, e not a schema,
// x ajv itself threw while validating. With allErrors, because without it ajv lets [] pass some schemas of `contains`.
const Ajv2020 = require('ajv/dist/2020').default;

const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false, allErrors: true });
const compiled = new Map();

function compile(schema) {
  const key = JSON.stringify(schema);
  if (!compiled.has(key)) compiled.set(key, ajv.compile(schema));
  return compiled.get(key);
}

let answers = '';
for (const line of require('fs').readFileSync(0, 'utf8').split('\n')) {
  if (line === '') continue;
  const { schema, value } = JSON.parse(line);
  let validate;
  try {
    validate = compile(schema);
  } catch (error) {
    answers += 'e';
    continue;
  }
  try {
    answers += validate(value) ? 'v' : 'i';
  } catch (error) {
    answers += 'x';
  }
}
process.stdout.write(answers);
