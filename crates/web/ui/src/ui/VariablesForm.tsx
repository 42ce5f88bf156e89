import { createStore, produce } from 'solid-js/store';
import { createUniqueId, For, type JSX, Show } from 'solid-js';
import type { Submit } from '../diagram/FormView';
import { jsonObject, jsonProblem, pretty } from './json';

interface Line {
  name: string;
  value: string;
  isNew: boolean;
}

/** Variables without a form: each a name and JSON. Only what was changed or added is given. */
export function VariablesForm(props: { values: ReadonlyMap<string, string>; readOnly: boolean; onReady: (submit: Submit) => void }): JSX.Element {
  const [lines, setLines] = createStore<Line[]>([...props.values].map(([name, value]) => ({ name, value: pretty(value), isNew: false })));
  const id = createUniqueId();
  const problem = (line: Line) => (line.isNew && line.name.trim() === '' ? 'The name is missing.' : line.value.trim() === '' ? 'The value is missing.' : jsonProblem(line.value));
  props.onReady(() => {
    if (lines.some((line) => problem(line) !== undefined)) return undefined;
    const changed = lines.filter((line) => line.isNew || line.value !== pretty(props.values.get(line.name) ?? ''));
    return jsonObject(changed.map((line) => [line.name.trim(), line.value] as const));
  });
  return (
    <div class="stack">
      <Show when={lines.length > 0} fallback={<p class="muted">There are no variables.</p>}>
        <table>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Value as JSON</th>
            </tr>
          </thead>
          <tbody>
            <For each={lines}>
              {(line, index) => (
                <tr>
                  <td>
                    <Show when={line.isNew} fallback={line.name}>
                      <input aria-label="Name" value={line.name} onInput={(event) => setLines(index(), 'name', event.currentTarget.value)} />
                    </Show>
                  </td>
                  <td style={{ width: '70%' }}>
                    <textarea
                      aria-label={`Value of ${line.name || 'the new variable'}`}
                      aria-describedby={`${id}-${index()}`}
                      aria-invalid={problem(line) !== undefined}
                      rows={Math.min(8, line.value.split('\n').length)}
                      readOnly={props.readOnly}
                      value={line.value}
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
            Add a variable
          </button>
        </div>
      </Show>
    </div>
  );
}
