import { A, useSearchParams } from '@solidjs/router';
import { createSignal, type JSX, lazy, Match, Show, Switch } from 'solid-js';
import { searchCorrelatedMessageSubscriptions, searchMessageSubscriptions } from '../api/generated/operations';
import type { CorrelatedMessageSubscriptionFilter, CorrelatedMessageSubscriptionResult, MessageSubscriptionFilter, MessageSubscriptionResult } from '../api/generated/types';
import { refresh, useRead } from '../query';
import { State } from '../ui/parts';
import { type Column, Table, usePlace } from '../ui/Table';
import { Time } from '../ui/time';

const MessageDialog = lazy(() => import('./act/MessageDialog'));
const OPEN_SORTS = ['messageName', 'correlationKey', 'messageSubscriptionState', 'messageSubscriptionType', 'elementId', 'lastUpdatedDate', 'processDefinitionName', 'processInstanceKey'] as const;
const CORRELATED_SORTS = ['correlationTime', 'messageName', 'correlationKey', 'elementId', 'processDefinitionId', 'processInstanceKey'] as const;

const instance = (key: string | null): JSX.Element => (
  <Show when={key} fallback="–">
    {(key) => (
      <A class="key" href={`/operate/processes/${key()}/messages`}>
        {key()}
      </A>
    )}
  </Show>
);

const OPEN: Column<MessageSubscriptionResult>[] = [
  { head: 'State', cell: (row) => <State of={row.messageSubscriptionState} />, sort: 'messageSubscriptionState' },
  { head: 'Message', cell: (row) => row.messageName, sort: 'messageName' },
  { head: 'Correlation key', cell: (row) => row.correlationKey ?? '–', sort: 'correlationKey' },
  { head: 'For', cell: (row) => (row.messageSubscriptionType === 'START_EVENT' ? 'starting' : 'waiting'), sort: 'messageSubscriptionType' },
  { head: 'Element', cell: (row) => row.elementId, sort: 'elementId' },
  { head: 'Process', cell: (row) => `${row.processDefinitionName || row.processDefinitionId}${row.processDefinitionVersion ? `, version ${row.processDefinitionVersion}` : ''}`, sort: 'processDefinitionName' },
  { head: 'Instance', cell: (row) => instance(row.processInstanceKey), sort: 'processInstanceKey' },
  { head: 'Changed', cell: (row) => <Time of={row.lastUpdatedDate} />, sort: 'lastUpdatedDate' },
];

const CORRELATED: Column<CorrelatedMessageSubscriptionResult>[] = [
  { head: 'When', cell: (row) => <Time of={row.correlationTime} />, sort: 'correlationTime' },
  { head: 'Message', cell: (row) => row.messageName, sort: 'messageName' },
  { head: 'Correlation key', cell: (row) => row.correlationKey ?? '–', sort: 'correlationKey' },
  { head: 'Element', cell: (row) => row.elementId, sort: 'elementId' },
  { head: 'Process', cell: (row) => row.processDefinitionId, sort: 'processDefinitionId' },
  { head: 'Instance', cell: (row) => instance(row.processInstanceKey), sort: 'processInstanceKey' },
  { head: 'Message key', cell: (row) => <span class="key">{row.messageKey}</span> },
];

/** Subscriptions to messages, or what has been correlated: the URL says which. */
export function MessageTables(props: { open: MessageSubscriptionFilter; correlated: CorrelatedMessageSubscriptionFilter }): JSX.Element {
  const [query, setQuery] = useSearchParams<{ view: string }>();
  const isCorrelated = () => query.view === 'correlated';
  const show = (view: string | null) => setQuery({ view, sort: null, after: null, before: null } as never);
  return (
    <div class="stack">
      <div class="row" role="group" aria-label="Which">
        <button aria-pressed={!isCorrelated()} class={isCorrelated() ? '' : 'primary'} onClick={() => show(null)}>
          Subscriptions
        </button>
        <button aria-pressed={isCorrelated()} class={isCorrelated() ? 'primary' : ''} onClick={() => show('correlated')}>
          Correlated
        </button>
      </div>
      <Switch>
        <Match when={isCorrelated()}>
          <Correlated filter={props.correlated} />
        </Match>
        <Match when={!isCorrelated()}>
          <Open filter={props.open} />
        </Match>
      </Switch>
    </div>
  );
}

function Open(props: { filter: MessageSubscriptionFilter }): JSX.Element {
  const { sort, page } = usePlace(OPEN_SORTS, { field: 'lastUpdatedDate', order: 'DESC' });
  const [acting, setActing] = createSignal<MessageSubscriptionResult>();
  const found = useRead(searchMessageSubscriptions, () => ({ body: { filter: props.filter, sort: sort(), page: page() }, live: true }));
  const columns: Column<MessageSubscriptionResult>[] = [
    ...OPEN,
    {
      head: 'Act',
      cell: (row) => (
        <Show when={row.messageSubscriptionState === 'CREATED'}>
          <button aria-label={`Send ${row.messageName}${row.correlationKey ? ` to ${row.correlationKey}` : ''}`} onClick={() => setActing(row)}>
            Send …
          </button>
        </Show>
      ),
    },
  ];
  return (
    <>
      <Table label="Subscriptions" query={found} columns={columns} usual="lastUpdatedDate:desc" empty="No subscription to a message matches." />
      <Show when={acting()}>
        {(row) => (
          <MessageDialog
            kinds={['correlate', 'publish']}
            name={row().messageName}
            correlationKey={row().correlationKey ?? undefined}
            tenantId={row().tenantId}
            onClose={() => setActing(undefined)}
            onDone={refresh}
          />
        )}
      </Show>
    </>
  );
}

function Correlated(props: { filter: CorrelatedMessageSubscriptionFilter }): JSX.Element {
  const { sort, page } = usePlace(CORRELATED_SORTS, { field: 'correlationTime', order: 'DESC' });
  const found = useRead(searchCorrelatedMessageSubscriptions, () => ({ body: { filter: props.filter, sort: sort(), page: page() }, live: true }));
  return <Table label="Correlated messages" query={found} columns={CORRELATED} usual="correlationTime:desc" empty="No message has been correlated." />;
}

