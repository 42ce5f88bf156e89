import { createStore, produce } from 'solid-js/store';
import { createEffect, createUniqueId, For, type JSX, on, Show } from 'solid-js';
import { t } from '../language';
import type { Submit } from '../diagram/FormView';
import { sendFiles } from './documents';
import { need } from '../rights';
import { MayFiles, useMay } from './May';
import { jsonObject, jsonProblem, pretty } from './json';
import { say, textOf } from './toast';

interface Line {
  name: string;
  value: string;
  isNew: boolean;
}

/** Variables without a form: each a name and JSON. Only what was changed or added is given; one that is wrong is told by its name. */
export function VariablesForm(props: {
  values: ReadonlyMap<string, string>;
  readOnly: boolean;
  onReady: (submit: Submit) => void;
  /** Lines typed before, as `onDraft` gave them. */
  draft?: string | undefined;
  onDraft?: (draft: string) => void;
  /** Whether documents can be added: each choice becomes a variable that refers to them. */
  takesFiles?: boolean;
}): JSX.Element {
  const known = new Map([...props.values].map(([name, value]) => [name, { name, value: pretty(value), isNew: false }]));
  for (const line of props.draft ? (JSON.parse(props.draft) as Line[]) : []) known.set(line.isNew ? `new ${known.size}` : line.name, line);
  const [lines, setLines] = createStore<Line[]>([...known.values()]);
  const changed = () => lines.filter((line) => line.isNew || line.value !== pretty(props.values.get(line.name) ?? ''));
  createEffect(on(() => JSON.stringify(changed()), (text) => props.onDraft?.(text), { defer: true }));
  const missing = useMay(() => (props.takesFiles ? need('DOCUMENT', 'CREATE') : undefined));
  const id = createUniqueId();
  const addFiles = async (files: File[]) => {
    try {
      const value = pretty(JSON.stringify(await sendFiles(files)));
      setLines(produce((all) => all.push({ name: 'documents', value, isNew: true })));
    } catch (error) {
      say(textOf(error), true);
    }
  };
  const problem = (line: Line) => (line.isNew && line.name.trim() === '' ? t('variables.noName') : line.value.trim() === '' ? t('variables.noValue') : jsonProblem(line.value));
  props.onReady(() => {
    const wrong = lines.find((line) => problem(line) !== undefined);
    if (wrong) throw new Error(t('variables.wrong', { name: wrong.name.trim() || t('variables.new'), problem: problem(wrong)! }));
    return jsonObject(changed().map((line) => [line.name.trim(), line.value] as const));
  });
  return (
    <div class="stack">
      <Show when={lines.length > 0} fallback={<p class="muted">{t('variables.none')}</p>}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t('variables.name')}</th>
              <th scope="col">{t('variables.value')}</th>
            </tr>
          </thead>
          <tbody>
            <For each={lines}>
              {(line, index) => (
                <tr>
                  <td>
                    <Show when={line.isNew} fallback={line.name}>
                      <input aria-label={t('variables.name')} value={line.name} onInput={(event) => setLines(index(), 'name', event.currentTarget.value)} />
                    </Show>
                  </td>
                  <td style={{ width: '70%' }}>
                    <textarea
                      aria-label={t('variables.valueOf', { name: line.name || t('variables.new') })}
                      aria-describedby={`${id}-${index()}`}
                      aria-invalid={problem(line) !== undefined}
                      rows={Math.min(8, line.value.split('\n').length)}
                      readOnly={props.readOnly}
                      value={line.value}
                      ref={(one) => (one.defaultValue = line.isNew ? '' : line.value)}
                      onInput={(event) => setLines(index(), 'value', event.currentTarget.value)}
                    />
                    <div class="muted" id={`${id}-${index()}`}>
                      {problem(line) ?? ''}
                    </div>
                  </td>
                </tr>
              )}
            </For>
          </tbody>
        </table>
      </Show>
      <Show when={!props.readOnly}>
        <div>
          <button type="button" onClick={() => setLines(produce((all) => all.push({ name: '', value: '', isNew: true })))}>
            {t('variables.add')}
          </button>{' '}
          <Show when={props.takesFiles}>
            <label class="button">
              {t('documents.add')}
              <MayFiles missing={missing} class="hidden-label" onFiles={addFiles} />
            </label>
          </Show>
        </div>
      </Show>
    </div>
  );
}
