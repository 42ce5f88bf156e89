import { createSignal, For, type JSX, Match, Show, Switch } from 'solid-js';
import { searchAgentInstanceHistory, searchAgentInstances } from '../api/generated/operations';
import type { AgentInstanceHistoryItemResult, AgentInstanceMessageContent, AgentInstanceResult } from '../api/generated/types';
import { t } from '../language';
import { useRead } from '../query';
import { pretty } from '../ui/json';
import { number } from '../ui/numbers';
import { Failure, State, wordOf } from '../ui/parts';
import { Time } from '../ui/time';
import { durationText } from '../ui/times';

const PAGE = 50;
/** Agents of an instance that are listed. */
const AGENTS_MAX = 100;
const COUNTS = ['modelCalls', 'toolCalls', 'inputTokens', 'outputTokens'] as const;
const LIMITS = { modelCalls: 'maxModelCalls', toolCalls: 'maxToolCalls', inputTokens: 'maxTokens', outputTokens: undefined } as const;

/** The agents of an instance: what they are, what they have used of their limits, and their conversation. */
export function Agents(props: { instanceKey: string; elementId: string | undefined; nameOf: (elementId: string) => string; isRunning: boolean }): JSX.Element {
  const found = useRead(searchAgentInstances, () => ({
    body: { filter: { processInstanceKey: props.instanceKey, ...(props.elementId ? { elementId: props.elementId } : {}) }, page: { limit: AGENTS_MAX } },
    live: props.isRunning,
  }));
  return (
    <div class="stack">
      <Show when={found.error}>{(error) => <Failure of={error()} again={() => void found.refetch()} />}</Show>
      <Show when={found.data && found.data.items.length === 0}>
        <p class="empty">{t('agents.none')}</p>
      </Show>
      <For each={found.data?.items}>{(agent) => <Agent of={agent} name={props.nameOf(agent.elementId)} isRunning={props.isRunning} />}</For>
    </div>
  );
}

function Agent(props: { of: AgentInstanceResult; name: string; isRunning: boolean }): JSX.Element {
  const limitOf = (count: (typeof COUNTS)[number]) => {
    const name = LIMITS[count];
    return name && props.of.limits[name] > 0 ? ` / ${number(props.of.limits[name])}` : '';
  };
  return (
    <section class="panel stack" aria-label={t('agents.of', { name: props.name })}>
      <div class="row">
        <State of={props.of.status === 'COMPLETED' ? 'COMPLETED' : 'ACTIVE'} word={wordOf(props.of.status)} />
        <h2>{props.name}</h2>
        <span class="muted">{[props.of.definition.provider, props.of.definition.model].filter(Boolean).join(' · ')}</span>
        <span class="key">{props.of.agentInstanceKey}</span>
        <span class="spacer" />
        <For each={COUNTS}>
          {(count) => (
            <span>
              {t(`agents.${count}`)} <strong>{number(props.of.metrics[count])}</strong>
              <span class="muted">{limitOf(count)}</span>
            </span>
          )}
        </For>
      </div>
      <Show when={props.of.definition.systemPrompt.length > 0}>
        <details>
          <summary>{t('agents.systemPrompt')}</summary>
          <Contents of={props.of.definition.systemPrompt} />
        </details>
      </Show>
      <Show when={props.of.tools.length > 0}>
        <details>
          <summary>{t('agents.tools', { count: number(props.of.tools.length) })}</summary>
          <dl class="facts">
            <For each={props.of.tools}>
              {(tool) => (
                <>
                  <dt>{tool.name}</dt>
                  <dd>{tool.description || '–'}</dd>
                </>
              )}
            </For>
          </dl>
        </details>
      </Show>
      <Conversation of={props.of.agentInstanceKey} isRunning={props.isRunning} />
    </section>
  );
}

/** What was said, in its order. */
function Conversation(props: { of: string; isRunning: boolean }): JSX.Element {
  const [limit, setLimit] = createSignal(PAGE);
  const found = useRead(searchAgentInstanceHistory, () => ({
    path: { agentInstanceKey: props.of },
    // While its job goes on, what an agent says is not final yet.
    body: { filter: { commitStatus: { $in: ['COMMITTED' as const, 'PENDING' as const] } }, sort: [{ field: 'producedAt' as const, order: 'ASC' as const }], page: { limit: limit() } },
    live: props.isRunning,
  }));
  return (
    <>
      <Show when={found.error}>{(error) => <Failure of={error()} again={() => void found.refetch()} />}</Show>
      <ol class="plain-list stack" aria-label={t('agents.conversation')}>
        <For each={found.data?.items} fallback={<Show when={found.data}><li class="muted">{t('agents.silent')}</li></Show>}>
          {(item) => <Said of={item} />}
        </For>
      </ol>
      <Show when={(found.data?.items.length ?? 0) === limit()}>
        <button onClick={() => setLimit(limit() + PAGE)}>{t('part.more')}</button>
      </Show>
    </>
  );
}

function Said(props: { of: AgentInstanceHistoryItemResult }): JSX.Element {
  const used = () => {
    const { metrics } = props.of;
    return [
      metrics?.inputTokens != null ? t('agents.in', { count: number(metrics.inputTokens) }) : '',
      metrics?.outputTokens != null ? t('agents.out', { count: number(metrics.outputTokens) }) : '',
      metrics?.durationMs != null ? durationText(metrics.durationMs) : '',
    ].filter(Boolean);
  };
  return (
    <li class={`said ${props.of.role.toLowerCase()}`}>
      <div class="row">
        <strong>{t(`agents.role.${props.of.role}`)}</strong>
        <span class="muted">{t('agents.iteration', { number: props.of.loopIteration })}</span>
        <span class="muted">
          <Time of={props.of.producedAt} />
        </span>
        <Show when={props.of.commitStatus !== 'COMMITTED'}>
          <span class="chip">{wordOf(props.of.commitStatus)}</span>
        </Show>
        <span class="spacer" />
        <span class="muted">{used().join(', ')}</span>
      </div>
      <Contents of={props.of.content} />
      <For each={props.of.toolCalls}>
        {(call) => (
          <details>
            <summary>{t('agents.calls', { tool: call.toolName })}</summary>
            <pre>{pretty(JSON.stringify(call.arguments ?? {}))}</pre>
          </details>
        )}
      </For>
    </li>
  );
}

function Contents(props: { of: readonly AgentInstanceMessageContent[] }): JSX.Element {
  return (
    <For each={props.of}>
      {(one) => (
        <Switch>
          <Match when={'text' in one ? one : undefined}>{(text) => <pre>{text().text}</pre>}</Match>
          <Match when={'object' in one ? one : undefined}>{(object) => <pre>{pretty(JSON.stringify(object().object))}</pre>}</Match>
          <Match when={'documentReference' in one ? one : undefined}>{(document) => <p>{t('agents.document', { id: document().documentReference.documentId })}</p>}</Match>
        </Switch>
      )}
    </For>
  );
}
