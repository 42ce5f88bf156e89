import { A, useSearchParams } from '@solidjs/router';
import { createSignal, type JSX, lazy, Match, Show, Switch } from 'solid-js';
import { searchCorrelatedMessageSubscriptions, searchMessageSubscriptions } from '../api/generated/operations';
import type { CorrelatedMessageSubscriptionFilter, CorrelatedMessageSubscriptionResult, MessageSubscriptionFilter, MessageSubscriptionResult } from '../api/generated/types';
import { t } from '../language';
import { refresh, useRead } from '../query';
import { need } from '../rights';
import { Action, State } from '../ui/parts';
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

function processOf(row: MessageSubscriptionResult): string {
  const process = row.processDefinitionName || row.processDefinitionId;
  return row.processDefinitionVersion ? t('lists.processVersion', { process, version: row.processDefinitionVersion }) : process;
}

const openColumns = (): Column<MessageSubscriptionResult>[] => [
  { head: t('lists.state'), cell: (row) => <State of={row.messageSubscriptionState} />, sort: 'messageSubscriptionState' },
  { head: t('lists.message'), cell: (row) => row.messageName, sort: 'messageName' },
  { head: t('lists.correlationKey'), cell: (row) => row.correlationKey ?? '–', sort: 'correlationKey' },
  { head: t('lists.messages.for'), cell: (row) => (row.messageSubscriptionType === 'START_EVENT' ? t('lists.messages.starting') : t('lists.messages.waiting')), sort: 'messageSubscriptionType' },
  { head: t('lists.element'), cell: (row) => row.elementId, sort: 'elementId' },
  { head: t('lists.process'), cell: processOf, sort: 'processDefinitionName' },
  { head: t('lists.instance'), cell: (row) => instance(row.processInstanceKey), sort: 'processInstanceKey' },
  { head: t('lists.messages.changed'), cell: (row) => <Time of={row.lastUpdatedDate} />, sort: 'lastUpdatedDate' },
];

const correlatedColumns = (): Column<CorrelatedMessageSubscriptionResult>[] => [
  { head: t('lists.when'), cell: (row) => <Time of={row.correlationTime} />, sort: 'correlationTime' },
  { head: t('lists.message'), cell: (row) => row.messageName, sort: 'messageName' },
  { head: t('lists.correlationKey'), cell: (row) => row.correlationKey ?? '–', sort: 'correlationKey' },
  { head: t('lists.element'), cell: (row) => row.elementId, sort: 'elementId' },
  { head: t('lists.process'), cell: (row) => row.processDefinitionId, sort: 'processDefinitionId' },
  { head: t('lists.instance'), cell: (row) => instance(row.processInstanceKey), sort: 'processInstanceKey' },
  { head: t('lists.messages.key'), cell: (row) => <span class="key">{row.messageKey}</span> },
];

/** Subscriptions to messages, or what has been correlated: the URL says which. */
export function MessageTables(props: { open: MessageSubscriptionFilter; correlated: CorrelatedMessageSubscriptionFilter }): JSX.Element {
  const [query, setQuery] = useSearchParams<{ view: string }>();
  const isCorrelated = () => query.view === 'correlated';
  const show = (view: string | null) => setQuery({ view, sort: null, after: null, before: null } as never);
  return (
    <div class="stack">
      <div class="row" role="group" aria-label={t('lists.messages.which')}>
        <button aria-pressed={!isCorrelated()} class={isCorrelated() ? '' : 'primary'} onClick={() => show(null)}>
          {t('lists.messages.subscriptions')}
        </button>
        <button aria-pressed={isCorrelated()} class={isCorrelated() ? 'primary' : ''} onClick={() => show('correlated')}>
          {t('lists.messages.correlated')}
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
  const columns = (): Column<MessageSubscriptionResult>[] => [
    ...openColumns(),
    {
      head: t('lists.act'),
      cell: (row) => (
        <Show when={row.messageSubscriptionState === 'CREATED'}>
          <Action label={row.correlationKey ? t('lists.messages.sendTo', { name: row.messageName, key: row.correlationKey }) : t('lists.messages.sendOne', { name: row.messageName })} needs={need('MESSAGE', 'CREATE')} do={() => setActing(row)}>
            {t('lists.messages.sendThis')}
          </Action>
        </Show>
      ),
    },
  ];
  return (
    <>
      <Table label={t('lists.messages.subscriptions')} query={found} columns={columns()} usual="lastUpdatedDate:desc" empty={t('lists.messages.noMatch')} />
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
  return <Table label={t('lists.messages.correlatedMessages')} query={found} columns={correlatedColumns()} usual="correlationTime:desc" empty={t('lists.messages.noCorrelated')} />;
}

