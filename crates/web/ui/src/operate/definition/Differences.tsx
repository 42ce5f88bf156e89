import { createMemo, createSignal, For, type JSX, Show } from 'solid-js';
import type { ProcessDefinitionResult } from '../../api/generated/types';
import type { Diagram } from '../../diagram/bpmn';
import { BpmnDiagram } from '../../diagram/BpmnDiagram';
import { useModel } from '../../diagram/model';
import { count, t } from '../../language';
import { intoSight } from '../../ui/fit';
import { Failure } from '../../ui/parts';
import { differencesOf, type Kind } from './differences';

/** Two versions of a process side by side, and what is different between them. */
export default function Differences(props: { before: ProcessDefinitionResult; after: ProcessDefinitionResult }): JSX.Element {
  const [first, setFirst] = createSignal<Diagram>();
  const [second, setSecond] = createSignal<Diagram>();
  const [selected, setSelected] = createSignal<string>();
  const [old, now] = [useModel(() => props.before), useModel(() => props.after)];
  const found = createMemo(() => {
    const [a, b, c, d] = [first(), old(), second(), now()];
    if (!a || !b || !c || !d) return undefined;
    try {
      return { items: differencesOf({ diagram: a, model: b }, { diagram: c, model: d }) };
    } catch (error) {
      return { error };
    }
  });
  const ids = (...kinds: Kind[]) => found()?.items?.filter((one) => kinds.includes(one.kind)).map((one) => one.id) ?? [];
  return (
    <section ref={intoSight} class="stack" aria-label={t('lists.differences')}>
      <div class="halves even">
        <div>
          <h2>{t('lists.versionOf', { version: props.before.version })}</h2>
          <BpmnDiagram definitionKey={props.before.processDefinitionKey} marks={{ removed: ids('removed'), changed: ids('changed', 'moved') }} selected={selected()} onSelect={setSelected} onDrawn={setFirst} />
        </div>
        <div>
          <h2>{t('lists.versionOf', { version: props.after.version })}</h2>
          <BpmnDiagram definitionKey={props.after.processDefinitionKey} marks={{ added: ids('added'), changed: ids('changed', 'moved') }} selected={selected()} onSelect={setSelected} onDrawn={setSecond} />
        </div>
      </div>
      <Show when={found()?.error}>{(error) => <Failure of={error()} />}</Show>
      <Show when={found()?.items}>
        {(items) => (
          <Show when={items().length > 0} fallback={<p class="empty">{t('lists.differences.none')}</p>}>
            <p class="muted" role="status">
              {count(items().length, 'lists.differences.one', 'lists.differences.other')}
            </p>
            <table aria-label={t('lists.differences.table')}>
              <thead>
                <tr>
                  <For each={[t('lists.what'), t('lists.element'), t('lists.details')]}>{(head) => <th scope="col">{head}</th>}</For>
                </tr>
              </thead>
              <tbody>
                <For each={items()}>
                  {(one) => (
                    <tr classList={{ chosen: one.id === selected() }}>
                      <td>{t(`lists.difference.${one.kind}`)}</td>
                      <td>
                        <button class="plain grow" onClick={() => setSelected(one.id)}>
                          {one.name ? `${one.name} (${one.id})` : one.id}
                        </button>
                      </td>
                      <td>
                        <For each={one.details}>
                          {([name, before, after]) => (
                            <div>
                              {name}: <del>{before || t('lists.nothing')}</del> → <ins>{after || t('lists.nothing')}</ins>
                            </div>
                          )}
                        </For>
                      </td>
                    </tr>
                  )}
                </For>
              </tbody>
            </table>
          </Show>
        )}
      </Show>
    </section>
  );
}
