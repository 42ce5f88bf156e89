import { Navigate, Route, Router, useLocation, useParams } from '@solidjs/router';
import { createEffect, createResource, type JSX, lazy, Match, Show, Switch } from 'solid-js';
import { at, BASE, within } from './base';
import { Frame } from './frame/Frame';
import { LoginPage } from './frame/Login';
import { AREAS } from './frame/areas';
import { loadParts, type Part, t } from './language';
import { startLive } from './live/poll';
import { isSignedIn, mayUse, start } from './session';
import { Failure } from './ui/parts';

/** A page, once its messages are there, too. */
const page = async <Page,>(loaded: Promise<Page>, ...parts: Part[]): Promise<Page> => (await Promise.all([loaded, loadParts(...parts)]))[0];

const Overview = lazy(() => page(import('./operate/Overview'), 'lists'));
const Instances = lazy(() => page(import('./operate/Instances'), 'lists', 'change'));
const Instance = lazy(() => page(import('./operate/Instance'), 'lists', 'instance', 'change', 'history'));
const Definitions = lazy(() => page(import('./operate/Definitions'), 'lists'));
const Definition = lazy(() => page(import('./operate/Definition'), 'lists', 'change', 'instance'));
const Decisions = lazy(() => page(import('./operate/Decisions'), 'lists'));
const DecisionInstance = lazy(() => page(import('./operate/DecisionInstance'), 'lists'));
const Migrate = lazy(() => page(import('./operate/migrate/Migrate'), 'lists', 'change'));
const Messages = lazy(() => page(import('./operate/Messages'), 'lists', 'change'));
const Log = lazy(() => page(import('./operate/Log'), 'lists'));
const Incidents = lazy(() => page(import('./operate/AllIncidents'), 'lists', 'change'));
const Batches = lazy(() => page(import('./operate/Batches'), 'lists'));
const Batch = lazy(() => page(import('./operate/Batch'), 'lists'));
const History = lazy(() => page(import('./history/History'), 'instance', 'history'));
const Performance = lazy(() => page(import('./history/Performance'), 'history'));
const JobTypes = lazy(() => page(import('./workers/JobTypes'), 'lists', 'history'));
const Quarantine = lazy(() => page(import('./workers/Quarantine'), 'history'));
const Tasks = lazy(() => page(import('./tasklist/Tasks'), 'tasks', 'lists'));
const Processes = lazy(() => page(import('./tasklist/Processes'), 'tasks'));
const StartProcess = lazy(() => page(import('./tasklist/StartProcess'), 'tasks'));
const Users = lazy(() => page(import('./admin/Users'), 'admin'));
const Groups = lazy(() => page(import('./admin/Groups'), 'admin'));
const Roles = lazy(() => page(import('./admin/Roles'), 'admin'));
const Tenants = lazy(() => page(import('./admin/Tenants'), 'admin'));
const MappingRules = lazy(() => page(import('./admin/MappingRules'), 'admin'));
const Access = lazy(() => page(import('./admin/Access'), 'admin'));
const ClusterVariables = lazy(() => page(import('./admin/ClusterVariables'), 'admin'));
const TaskListeners = lazy(() => page(import('./admin/TaskListeners'), 'admin'));
const OperationsLog = lazy(() => page(import('./admin/OperationsLog'), 'admin'));
const Usage = lazy(() => page(import('./admin/Usage'), 'admin'));
const Cluster = lazy(() => page(import('./admin/Cluster'), 'admin'));
const About = lazy(() => page(import('./admin/About'), 'admin'));
const Members = lazy(() => page(import('./admin/Members'), 'admin'));
const Authorizations = lazy(() => page(import('./admin/Authorizations'), 'admin'));

function Missing(): JSX.Element {
  return (
    <main class="page">
      <h1>{t('frame.missing')}</h1>
      <p>
        {t('frame.missing.text')} <a href={at('/')}>{t('frame.missing.start')}</a>
      </p>
    </main>
  );
}

function Home(): JSX.Element {
  const first = () => AREAS.find(({ area }) => mayUse(area));
  return (
    <Show when={first()} fallback={<Forbidden area={AREAS.map(({ area }) => t(`area.${area}`)).join(', ')} />}>
      {(area) => <Navigate href={area().href} />}
    </Show>
  );
}

function Forbidden(props: { area: string }): JSX.Element {
  return (
    <main class="page">
      <h1>{t('frame.forbidden')}</h1>
      <p>{t('frame.forbidden.text', { area: props.area })}</p>
    </main>
  );
}

/** Everything but the login: somebody must be signed in, and may use the area. */
function Guarded(props: { children?: JSX.Element }): JSX.Element {
  const place = useLocation();
  const area = () => AREAS.find(({ area }) => within(place.pathname).split('/')[1] === area);
  const next = () => encodeURIComponent(within(place.pathname) + place.search);
  createEffect(() => isSignedIn() && startLive());
  return (
    <Show when={isSignedIn()} fallback={<Navigate href={`/login?next=${next()}`} />}>
      <Frame>
        <Show when={!area() || mayUse(area()!.area)} fallback={<Forbidden area={t(`area.${area()!.area}`)} />}>
          {props.children}
        </Show>
      </Frame>
    </Show>
  );
}

/** Old addresses of the same pages. */
function Moved(props: { to: string }): JSX.Element {
  const place = useLocation();
  const key = useParams<{ key?: string }>().key;
  return <Navigate href={`${props.to}${key ? `/${key}` : ''}${place.search}`} />;
}

/** Addresses of Admin under its old name. */
function OfIdentity(): JSX.Element {
  const { page, id } = useParams<{ page?: string; id?: string }>();
  return <Navigate href={`/admin/${[page ?? 'users', id].filter((part) => part !== undefined).join('/')}`} />;
}

export function App(): JSX.Element {
  const [started, { refetch }] = createResource(async () => {
    await start();
    return true;
  });
  return (
    <Switch>
      <Match when={started.error as unknown}>
        {(error) => (
          <main class="page">
            <Failure of={error()} again={() => void refetch()} />
          </main>
        )}
      </Match>
      <Match when={started.state === 'ready'}>
        <Router base={BASE}>
          <Route path="/login" component={LoginPage} />
          <Route path={['/operate/login', '/tasklist/login']} component={() => <Navigate href="/login" />} />
          <Route path="/" component={Guarded}>
            <Route path="/" component={Home} />
            <Route path="/operate" component={Overview} />
            <Route path={['/operate/instances', '/operate/instances/:key']} component={() => <Moved to="/operate/processes" />} />
            <Route path="/operate/processes" component={Instances} />
            <Route path="/operate/processes/:key/history" component={History} />
            <Route path="/operate/definitions/:id/durations" component={Performance} />
            <Route path={['/operate/jobs', '/operate/jobs/:type']} component={JobTypes} />
            <Route path="/operate/quarantine" component={Quarantine} />
            <Route path={['/operate/processes/:key', '/operate/processes/:key/:tab']} component={Instance} />
            <Route path="/operate/definitions" component={Definitions} />
            <Route path="/operate/definitions/:id" component={Definition} />
            <Route path="/operate/decisions" component={Decisions} />
            <Route path="/operate/decisions/:key" component={DecisionInstance} />
            <Route path="/operate/migrate" component={Migrate} />
            <Route path="/operate/incidents" component={Incidents} />
            <Route path="/operate/messages" component={Messages} />
            <Route path="/operate/operations-log" component={Log} />
            <Route path="/operate/batch-operations" component={Batches} />
            <Route path="/operate/batch-operations/:key" component={Batch} />
            <Route path="/tasklist/processes" component={Processes} />
            <Route path="/tasklist/processes/:id/start" component={StartProcess} />
            <Route path={['/tasklist', '/tasklist/:key', '/tasklist/:key/:tab']} component={Tasks} />
            <Route path="/admin" component={() => <Navigate href="/admin/users" />} />
            <Route path={['/identity', '/identity/:page', '/identity/:page/:id']} component={OfIdentity} />
            <Route path="/admin/users" component={Users} />
            <Route path="/admin/groups" component={Groups} />
            <Route path="/admin/groups/:id" component={() => <Members of="group" />} />
            <Route path="/admin/roles" component={Roles} />
            <Route path="/admin/roles/:id" component={() => <Members of="role" />} />
            <Route path="/admin/tenants" component={Tenants} />
            <Route path="/admin/tenants/:id" component={() => <Members of="tenant" />} />
            <Route path="/admin/mapping-rules" component={MappingRules} />
            <Route path="/admin/authorizations" component={Authorizations} />
            <Route path="/admin/access" component={Access} />
            <Route path="/admin/cluster-variables" component={ClusterVariables} />
            <Route path="/admin/global-task-listeners" component={TaskListeners} />
            <Route path="/admin/operations-log" component={OperationsLog} />
            <Route path="/admin/usage" component={Usage} />
            <Route path="/admin/cluster" component={Cluster} />
            <Route path="/admin/about" component={About} />
            <Route path="*" component={Missing} />
          </Route>
        </Router>
      </Match>
    </Switch>
  );
}
