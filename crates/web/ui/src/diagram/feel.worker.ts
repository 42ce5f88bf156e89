// Evaluates the FEEL and the patterns of forms apart from the page: an expression that never ends, or takes all memory, ends with this worker.
import { evaluate, unaryTest } from '@bpmn-io/feelin';
import { evaluate as fill } from 'feelers';
import type { Answer, Question } from './feel';

/** The longest result, in characters of JSON: more cannot be drawn in reasonable time. */
const RESULT_CHARS_MAX = 200_000;

/** As form-js has it for values in HTML. */
const ESCAPES: Record<string, string> = {
  '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#039;', '{': '&#123;', '}': '&#125;', ':': '&#58;', ';': '&#59;',
};
const escape = (text: unknown) => String(text).replace(/[&<>"'{};:]/g, (found) => ESCAPES[found]!);

function answer({ kind, text, data, isDebug, isStrict, isHtml }: Question): unknown {
  if (kind === 'pattern') return new RegExp(text).test(JSON.parse(data) as string);
  const context = JSON.parse(data) as Record<string, unknown>;
  if (kind === 'expression') return evaluate(text, context).value;
  if (kind === 'unaryTest') return unaryTest(text, context).value;
  return fill(text, context, {
    debug: isDebug,
    strict: isStrict,
    buildDebugString: () => ' {{⚠}} ',
    sanitizer: isHtml ? escape : (value: unknown) => value,
  });
}

addEventListener('message', ({ data: question }: MessageEvent<Question>) => {
  let told: Answer;
  try {
    const result = JSON.stringify(answer(question)) as string | undefined;
    told = (result ?? '').length > RESULT_CHARS_MAX ? { isTooLarge: true } : { result };
  } catch {
    told = {};
  }
  postMessage(told);
});
postMessage('ready');
