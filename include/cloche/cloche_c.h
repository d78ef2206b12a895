/*
 * Cloche for C, and for every language that can call C: JSON in, JSON out.
 *
 *     char* error = NULL;
 *     cloche_gateway* gateway = cloche_open("{\"workspace\": \"proj\"}", &error);
 *     if (gateway == NULL) { complain(error); cloche_free(error); return 1; }
 *     char* result = cloche_call(gateway, "{\"tool\": \"run_shell\", \"arguments\": {\"cmd\": \"ls\"}}");
 *     ...
 *     cloche_free(result);
 *     cloche_close(gateway);
 *
 * Texts are UTF-8 and end with a zero byte. What a function takes stays the caller's, and is not looked at
 * once the function has returned. What a function returns as char* is the caller's, who gives it to
 * cloche_free(). NULL for a text that has to be there is an error like any other.
 *
 * Nothing here throws or ends the process. What Cloche could not do is JSON of one member:
 *
 *     {"error": {"kind": "usage", "message": "...", "fix": "..."}}
 *
 * with the kinds of cloche::Error (cloche/values.h). A call that was refused, or whose program failed, is not
 * an error of this kind but a result. A function returns NULL for a char* only when there is no memory.
 *
 * Any number of threads may use one gateway. cloche_close() is for one thread, when no call runs, and once:
 * a gateway that was closed is no gateway any more, as with free(). What cloche/gateway.h says of signals and
 * of fork() holds here too.
 *
 * These functions only grow: none is changed or removed while the library is libcloche.so.1.
 */
#ifndef CLOCHE_CLOCHE_C_H
#define CLOCHE_CLOCHE_C_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cloche_gateway cloche_gateway;

/*
 * Opens a gateway. `options`: an object with the members of cloche::Options by the same names, each of which
 * may be left out; NULL is {}. `limits` is an object, {"timeout": "30s"}, and `environment` one of names and
 * values; `asked` is "nobody", "terminal" or "operators"; there are no functions. A member that is not known
 * is an error. NULL: it could not be opened; where `error` is not NULL, *error is set to why, and otherwise
 * to NULL.
 */
cloche_gateway* cloche_open(const char* options, char** error);

/*
 * Makes a call. `call`: {"tool": "...", "arguments": {...}, "task": "...", "role": "...", "cancel": 7}, all
 * but the first may be left out; `arguments` may also be a text, which is then passed on as the model wrote
 * it. Returns what `cloche call --json` prints: "result" is what the model is to read, "outcome" and
 * "exit_code" say how it went. What needs a person's yes is asked as the options say.
 */
char* cloche_call(cloche_gateway* gateway, const char* call);

/*
 * The same, and `approver` is asked where a person's yes is needed: with `context` and a question,
 * {"digest": "...", "text": "...", "afterwards": false}, which is valid until it returns. It returns one of
 * the answers below; any other number is a no. It runs on the thread of the call, must return, and must not
 * throw. NULL: it is asked as the options say, as is what only the operator may answer.
 */
enum { cloche_answer_no = 0, cloche_answer_once = 1, cloche_answer_session = 2 };
typedef int (*cloche_approver)(void* context, const char* question);
char* cloche_call_with_approver(cloche_gateway* gateway, const char* call, cloche_approver approver,
                                void* context);

/*
 * The tools that a model may call, as that API expects them: "mcp", "openai" or "anthropic"; NULL is "mcp".
 */
char* cloche_tools(cloche_gateway* gateway, const char* format);

/* Ends a gateway. NULL is nothing. */
void cloche_close(cloche_gateway* gateway);

/* Frees what a function here has returned. NULL is nothing. */
void cloche_free(char* text);

/* The number of the version of the library that was loaded. Not to be freed. */
const char* cloche_version(void);

#ifdef __cplusplus
}
#endif

#endif
