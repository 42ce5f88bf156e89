import { A } from '@solidjs/router';
import { For, type JSX, Show } from 'solid-js';
import { getElementInstance } from '../api/generated/operations';
import type { ProcessInstanceResult } from '../api/generated/types';
import type { Mapping, Model } from '../diagram/model';
import { t } from '../language';
import { useRead } from '../query';
import { Copy, State, wordOf } from '../ui/parts';
import { exactText } from '../ui/times';
import { doingText, eventText } from './doings';

type Line = readonly [string, JSX.Element];

function processText(one: ProcessInstanceResult): string {
  const values = { id: one.processDefinitionId, version: one.processDefinitionVersion };
  return one.processDefinitionVersionTag ? t('instance.facts.processTagged', { ...values, tag: one.processDefinitionVersionTag }) : t('instance.facts.process', values);
}

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
      [t('instance.head.key'), key(one.processInstanceKey)],
      [t('instance.head.process'), processText(one)],
      [t('instance.facts.definitionKey'), key(one.processDefinitionKey)],
      [t('instance.facts.businessId'), one.businessId ?? '–'],
      [t('instance.facts.tags'), one.tags.join(', ') || '–'],
      [t('instance.facts.tenant'), one.tenantId],
      [t('instance.head.started'), exactText(one.startDate)],
      [t('instance.head.ended'), one.endDate ? exactText(one.endDate) : '–'],
      [t('instance.facts.suspended'), one.suspendedDate ? exactText(one.suspendedDate) : '–'],
      [t('instance.facts.caller'), one.parentProcessInstanceKey ? <A href={`/operate/processes/${one.parentProcessInstanceKey}`}>{one.parentProcessInstanceKey}</A> : '–'],
      [t('instance.facts.root'), one.rootProcessInstanceKey ? <A href={`/operate/processes/${one.rootProcessInstanceKey}`}>{one.rootProcessInstanceKey}</A> : '–'],
    ];
  };
  const instanceFacts = (): Line[] => {
    const one = chosen.data;
    return one
      ? [
          [t('instance.elementInstance.key'), key(one.elementInstanceKey)],
          [t('instance.head.state'), <State of={one.state} incident={one.hasIncident} />],
          [t('instance.head.started'), exactText(one.startDate)],
          [t('instance.head.ended'), one.endDate ? exactText(one.endDate) : '–'],
          [t('instance.elementInstance.incident'), one.incidentKey ? key(one.incidentKey) : '–'],
        ]
      : [];
  };
  const elementFacts = (): Line[] => {
    const one = element();
    if (!one) return [];
    return [
      [t('instance.element.id'), key(one.id)],
      [t('instance.head.name'), one.name || '–'],
      [t('instance.head.type'), wordOf(one.type.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()) + (one.event ? ` (${eventText(one.event)})` : '')],
      [t('instance.element.repeated'), one.loop ? t(`instance.element.repeated.${one.loop}`) : '–'],
      [t('instance.element.attachedTo'), one.attachedTo ?? '–'],
      ...one.does.map(([word, value]): Line => [doingText(word), value]),
    ];
  };
  return (
    <div class="stack">
      <Show when={props.mappings === undefined}>
        <Show when={props.elementId} fallback={<Facts label={t('instance.facts')} lines={facts()} />}>
          <Show when={element()} fallback={<p class="empty">{t('instance.element.none')}</p>}>
            <Facts label={t('instance.element')} lines={elementFacts()} />
          </Show>
          <Show when={instanceFacts().length > 0}>
            <Facts label={t('instance.elementInstance')} lines={instanceFacts()} />
          </Show>
        </Show>
      </Show>
      <Show when={props.elementId && props.mappings !== 'output'}>
        <Mappings label={t('instance.inputs')} mappings={element()?.inputs ?? []} empty={t('instance.inputs.none')} />
      </Show>
      <Show when={props.elementId && props.mappings !== 'input'}>
        <Mappings label={t('instance.outputs')} mappings={element()?.outputs ?? []} empty={t('instance.outputs.none')} />
      </Show>
      <Show when={props.elementId === undefined}>
        <p class="muted">{t('instance.element.choose')}</p>
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
              <th scope="col">{t('instance.head.from')}</th>
              <th scope="col">{t('instance.head.to')}</th>
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
