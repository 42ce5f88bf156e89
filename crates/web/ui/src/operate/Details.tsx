import { A } from '@solidjs/router';
import { For, type JSX, Show } from 'solid-js';
import { getElementInstance } from '../api/generated/operations';
import type { ProcessInstanceResult } from '../api/generated/types';
import type { Mapping, Model } from '../diagram/model';
import { useRead } from '../query';
import { Copy, State, wordOf } from '../ui/parts';
import { exactText } from '../ui/time';

type Line = readonly [string, JSX.Element];

/** All that is known of the instance, or of the element that is chosen: facts, what it does, its mappings. */
export function Details(props: { instance: ProcessInstanceResult; model: Model | undefined; elementId: string | undefined; scopeKey: string | undefined; mappings: 'input' | 'output' | undefined }): JSX.Element {
  const chosen = useRead(getElementInstance, () => ({ path: { elementInstanceKey: props.scopeKey ?? '' }, enabled: props.scopeKey !== undefined && props.elementId !== undefined, keep: false }));
  const element = () => (props.elementId ? props.model?.elements.get(props.elementId) : undefined);
  const key = (text: string) => (
    <span class="key">
      {text}
      <Copy text={text} />
    </span>
  );
  const facts = (): Line[] => {
    const one = props.instance;
    return [
      ['Key', key(one.processInstanceKey)],
      ['Process', `${one.processDefinitionId}, version ${one.processDefinitionVersion}${one.processDefinitionVersionTag ? ` (${one.processDefinitionVersionTag})` : ''}`],
      ['Key of the definition', key(one.processDefinitionKey)],
      ['Business ID', one.businessId ?? '–'],
      ['Tags', one.tags.join(', ') || '–'],
      ['Tenant', one.tenantId],
      ['Started', exactText(one.startDate)],
      ['Ended', one.endDate ? exactText(one.endDate) : '–'],
      ['Suspended', one.suspendedDate ? exactText(one.suspendedDate) : '–'],
      ['Called by', one.parentProcessInstanceKey ? <A href={`/operate/processes/${one.parentProcessInstanceKey}`}>{one.parentProcessInstanceKey}</A> : '–'],
      ['First of the calls', one.rootProcessInstanceKey ? <A href={`/operate/processes/${one.rootProcessInstanceKey}`}>{one.rootProcessInstanceKey}</A> : '–'],
    ];
  };
  const instanceFacts = (): Line[] => {
    const one = chosen.data;
    return one
      ? [
          ['Key of the element instance', key(one.elementInstanceKey)],
          ['State', <State of={one.state} incident={one.hasIncident} />],
          ['Started', exactText(one.startDate)],
          ['Ended', one.endDate ? exactText(one.endDate) : '–'],
          ['Incident', one.incidentKey ? key(one.incidentKey) : '–'],
        ]
      : [];
  };
  const elementFacts = (): Line[] => {
    const one = element();
    if (!one) return [];
    return [
      ['ID', key(one.id)],
      ['Name', one.name || '–'],
      ['Type', wordOf(one.type.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()) + (one.event ? ` (${one.event})` : '')],
      ['Repeated', one.loop ? `${one.loop} for each item` : '–'],
      ['Attached to', one.attachedTo ?? '–'],
      ...one.does,
    ];
  };
  return (
    <div class="stack">
      <Show when={props.mappings === undefined}>
        <Show when={props.elementId} fallback={<Facts label="The instance" lines={facts()} />}>
          <Show when={element()} fallback={<p class="empty">The model has no such element, or it is the process itself.</p>}>
            <Facts label="The element" lines={elementFacts()} />
          </Show>
          <Show when={instanceFacts().length > 0}>
            <Facts label="The element instance" lines={instanceFacts()} />
          </Show>
        </Show>
      </Show>
      <Show when={props.elementId && props.mappings !== 'output'}>
        <Mappings label="Input mappings" mappings={element()?.inputs ?? []} empty="There are no input mappings: the element sees the variables around it." />
      </Show>
      <Show when={props.elementId && props.mappings !== 'input'}>
        <Mappings label="Output mappings" mappings={element()?.outputs ?? []} empty="There are no output mappings: what the element gives goes to the variables around it." />
      </Show>
      <Show when={props.elementId === undefined}>
        <p class="muted">Choose an element in the diagram or in the tree for its own details and mappings.</p>
      </Show>
    </div>
  );
}

function Facts(props: { label: string; lines: readonly Line[] }): JSX.Element {
  return (
    <table aria-label={props.label}>
      <tbody>
        <For each={props.lines}>
          {([name, value]) => (
            <tr>
              <th scope="row">{name}</th>
              <td>{value}</td>
            </tr>
          )}
        </For>
      </tbody>
    </table>
  );
}

function Mappings(props: { label: string; mappings: readonly Mapping[]; empty: string }): JSX.Element {
  return (
    <section aria-label={props.label}>
      <h2>{props.label}</h2>
      <Show when={props.mappings.length > 0} fallback={<p class="muted">{props.empty}</p>}>
        <table>
          <thead>
            <tr>
              <th scope="col">From</th>
              <th scope="col">To</th>
            </tr>
          </thead>
          <tbody>
            <For each={props.mappings}>
              {(one) => (
                <tr>
                  <td>
                    <code>{one.source}</code>
                  </td>
                  <td>
                    <code>{one.target}</code>
                  </td>
                </tr>
              )}
            </For>
          </tbody>
        </table>
      </Show>
    </section>
  );
}
