// Finds English that stands in the sources of the pages, where no other language reaches it.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { parseAst } from 'vite';
import { english, filesBelow, SOURCES } from './messages.mjs';

/** Texts that are the same in all languages, or for programmers alone. */
const SAME = new Set(['bpmn.io', 'g o, g t, g a', 'j k', 'the page has no place for the application', '{} has no {}', 'true', 'false', 'secondary_storage.steps', 'an unknown way to escape values']);
/** Programs that pages write, which are in no language of people. */
const OF_CODE = ['views/code.ts'];
/** Names of members of requests, and of types of values. */
const NAMES = ['retries', 'errorMessage', 'retryBackOff', 'errorCode', 'true or false'];
/** Words of a model, which `operate/doings.ts` tells in the language of the page. */
const DOINGS = ['Job type', 'Retries of a job', 'Calls the process', 'Evaluates the decision', 'Result in', 'Candidate groups', 'Correlation key', 'For each of'];
/** Attributes and fields that are shown. */
const SHOWN = new Set(['alt', 'aria-label', 'button', 'detail', 'done', 'effect', 'empty', 'head', 'hint', 'label', 'legend', 'placeholder', 'text', 'title', 'what', 'word']);
/** Calls whose first argument is not shown. */
const HIDDEN_IN = new Set(['count', 'includes', 'known', 'querySelector', 'querySelectorAll', 't', 'wordOf']);
/** Parts of a source that have no texts. */
const TYPES = /^(Import|ExportAll|TS(Interface|Type))/;

const hasWord = (text) => /[A-Za-z]{2,}/.test(text);
/** Two words of a sentence, without signs that only code has. */
const isProse = (text) => /(^|[\s“(])[A-Za-z][a-z’']* [a-z]+/.test(text) && /^[\s\w,.:;!?'’“”()–…{}-]*$/.test(text);
const isShown = (text, place) => place !== 'hidden' && !text.startsWith('{"') && (place === 'shown' ? hasWord(text) : isProse(text));

/** Collects texts below a node. `place`: `shown` and `hidden` in what is known to be so; in code, only prose counts. */
function collect(node, place, found) {
  if (Array.isArray(node)) for (const one of node) collect(one, place, found);
  if (!node || typeof node !== 'object' || Array.isArray(node) || TYPES.test(node.type ?? '')) return;
  const below = (inPlace) => {
    for (const one of Object.values(node)) collect(one, inPlace, found);
  };
  switch (node.type) {
    case 'JSXText':
      if (hasWord(node.value)) found.push(node.value.trim().replace(/\s+/g, ' '));
      return;
    case 'Literal':
      if (typeof node.value === 'string' && isShown(node.value, place)) found.push(node.value);
      return;
    case 'TemplateLiteral': {
      const text = node.quasis.map((one) => one.value.cooked).join('{}');
      if (isShown(text.replaceAll('{}', ' '), place)) found.push(text);
      return below(place);
    }
    case 'CallExpression':
      if (!HIDDEN_IN.has(node.callee.name ?? node.callee.property?.name)) return below(place);
      return collect([node.callee, ...node.arguments.slice(1)], place, found);
    case 'BinaryExpression':
      // A text that something is compared with is not shown.
      return below(/^[=!]==?$/.test(node.operator) ? 'hidden' : place);
    case 'JSXAttribute':
      return collect(node.value, SHOWN.has(node.name.name) ? 'shown' : 'hidden', found);
    case 'Property':
      return collect(node.value, SHOWN.has(node.key.name) ? 'shown' : place === 'hidden' ? place : 'code', found);
    case 'ArrowFunctionExpression':
    case 'JSXElement':
      return below('code');
    default:
      return below(place);
  }
}

/** The texts of a source that are no messages, with `{}` for values. */
export function textsIn(source, lang = 'tsx') {
  const found = [];
  collect(parseAst(source, { lang }), 'code', found);
  return found;
}

/** The texts of all sources that should be messages, as `file: text`. */
export function hardCoded() {
  const keys = new Set(english());
  const isMessage = (text) => SAME.has(text) || NAMES.includes(text) || DOINGS.includes(text) || keys.has(text) || keys.has(`page.${text}`);
  return filesBelow(SOURCES)
    .map((path) => [relative(SOURCES, path), path])
    .filter(([name]) => /\.tsx?$/.test(name) && !/^(language|api\/generated)\//.test(name) && !OF_CODE.includes(name))
    .flatMap(([name, path]) => textsIn(readFileSync(path, 'utf8'), name.split('.').at(-1)).filter((text) => !isMessage(text)).map((text) => `${name}: ${text}`));
}
