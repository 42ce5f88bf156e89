// An editor of JSON with folding and search, for values that are too long for a plain field. It stands in a tree of its own,
// whose styles browsers take from a script although the policy of our pages forbids style elements.
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { bracketMatching, foldAll, foldGutter, foldKeymap, HighlightStyle, syntaxHighlighting, unfoldAll } from '@codemirror/language';
import { openSearchPanel, search, searchKeymap } from '@codemirror/search';
import { EditorState } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { type JSX, onCleanup, onMount } from 'solid-js';
import { t } from '../language';

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--accent)' },
  { tag: tags.string, color: 'var(--ok)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--waiting)' },
]);

const line = (borderColor: string) => ({ borderStyle: 'solid', borderWidth: '1px', borderColor });
const theme = EditorView.theme({
  '&': { ...line('var(--edge)'), borderRadius: '6px', maxHeight: '60vh', background: 'var(--surface)', color: 'var(--text)', fontSize: '12px' },
  '&.cm-focused': { outlineStyle: 'solid', outlineColor: 'var(--accent)' },
  '.cm-scroller': { fontFamily: 'ui-monospace, monospace', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-gutters': { background: 'var(--raised)', color: 'var(--muted)', border: 'none' },
  '.cm-panels': { background: 'var(--raised)', color: 'var(--text)' },
  '.cm-foldPlaceholder': { background: 'var(--raised)', color: 'var(--muted)', ...line('var(--line)') },
  '.cm-selectionBackground, &.cm-focused .cm-selectionBackground': { background: 'color-mix(in srgb, var(--accent) 30%, transparent) !important' },
  '.cm-searchMatch': { background: 'color-mix(in srgb, var(--waiting) 30%, transparent)' },
  '.cm-searchMatch, .cm-searchMatch *': { color: 'var(--text)' },
});

/** Words of the search, which the library says in English. */
const phrases = () =>
  EditorState.phrases.of({
    Find: t('json.find'),
    Replace: t('json.replaceBy'),
    next: t('json.next'),
    previous: t('json.previous'),
    all: t('json.all'),
    'match case': t('json.case'),
    'by word': t('json.word'),
    regexp: t('json.pattern'),
    replace: t('json.replace'),
    'replace all': t('json.replaceAll'),
    close: t('part.close'),
  });

export default function JsonEditor(props: { label: string; value: string; isReadOnly?: boolean; onInput?: (text: string) => void }): JSX.Element {
  let place!: HTMLDivElement;
  let mirror!: HTMLTextAreaElement;
  let view: EditorView | undefined;
  onMount(() => {
    const root = place.attachShadow({ mode: 'open' });
    const told = EditorView.updateListener.of((update) => {
      if (!update.docChanged) return;
      mirror.value = update.state.doc.toString();
      props.onInput?.(mirror.value);
    });
    view = new EditorView({
      parent: root,
      root,
      state: EditorState.create({
        doc: props.value,
        extensions: [
          lineNumbers(),
          foldGutter(),
          history(),
          bracketMatching(),
          search({ top: true }),
          json(),
          syntaxHighlighting(colours),
          theme,
          phrases(),
          EditorView.lineWrapping,
          EditorState.readOnly.of(props.isReadOnly ?? false),
          EditorView.contentAttributes.of({ 'aria-label': props.label, spellcheck: 'false', tabindex: '0' }),
          keymap.of([...searchKeymap, ...foldKeymap, ...historyKeymap, ...defaultKeymap]),
          told,
        ],
      }),
    });
    if (!props.isReadOnly) view.focus();
  });
  onCleanup(() => view?.destroy());
  const run = (command: (view: EditorView) => boolean) => () => view && command(view);
  return (
    <div class="stack">
      <div class="row">
        <button type="button" onClick={run(foldAll)}>
          {t('json.fold')}
        </button>
        <button type="button" onClick={run(unfoldAll)}>
          {t('json.unfold')}
        </button>
        <button type="button" onClick={run(openSearchPanel)}>
          {t('json.search')}
        </button>
      </div>
      <div ref={place} class="json-editor" />
      {/* Dialogs ask their fields whether something was typed. */}
      <textarea ref={(one) => ((mirror = one).defaultValue = props.value)} hidden />
    </div>
  );
}
