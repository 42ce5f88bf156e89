/** Why a text is no JSON, or nothing. */
export function jsonProblem(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** An object of values that are JSON text already, so that numbers keep every digit. */
export const jsonObject = (values: Iterable<readonly [string, string]>): string =>
  `{${[...values].map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;

const INDENT = '  ';

/** JSON text with lines and indentation; its literals stay as they are written. */
export function pretty(text: string): string {
  let out = '';
  let depth = 0;
  const line = () => `\n${INDENT.repeat(depth)}`;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g)) {
    if (token === '{' || token === '[') {
      depth += 1;
      out += token + line();
    } else if (token === '}' || token === ']') {
      depth -= 1;
      out = /[{[]\s*$/.test(out) ? out.trimEnd() + token : out + line() + token;
    } else if (token === ',') out += token + line();
    else if (token === ':') out += ': ';
    else out += token;
  }
  return out;
}

const LINES_MAX = 12;

/** Whether a text has more lines than a plain field shows well. */
export const isLong = (text: string): boolean => text.split('\n', LINES_MAX + 1).length > LINES_MAX;
