import { Navigate, Route, Router, useLocation, useParams } from '@solidjs/router';
import { createEffect, createResource, type JSX, lazy, Match, Show, Switch } from 'solid-js';
import { at, BASE, within } from './base';
import { Frame } from './frame/Frame';
import { LoginPage as Login } from './frame/Login';
import { AREAS } from './frame/areas';
import { t, withParts } from './language';
import { startLive } from './live/poll';
import { isSignedIn, mayUse, start } from './session';
import { Failure } from './ui/parts';

/** The login is among what all pages have: it may have to open over one when the server has other files already. */
const LoginPage = lazy(() => withParts(Promise.resolve({ default: Login }), 'login'));
const Overview = lazy(() => withParts(import('./operate/Overview'), 'lists', 'overview'));
const Instances = lazy(() => withParts(import('./operate/Instances'), 'lists'));
const Instance = lazy(() => withParts(import('./operate/Instance'), 'lists', 'instance', 'change', 'history', 'log'));
const Definitions = lazy(() => withParts(import('./operate/Definitions'), 'lists', 'overview', 'models'));
const Definition = lazy(() => withParts(import('./operate/Definition'), 'lists', 'models', 'change', 'instance'));
const Decisions = lazy(() => withParts(import('./operate/Decisions'), 'lists', 'models'));
const DecisionInstance = lazy(() => withParts(import('./operate/DecisionInstance'), 'lists', 'models'));
const Migrate = lazy(() => withParts(import('./operate/migrate/Migrate'), 'lists', 'change'));
const Messages = lazy(() => withParts(import('./operate/Messages'), 'lists', 'change'));
const LogPage = lazy(() => withParts(import('./log/LogPage'), 'lists', 'log'));
const Incidents = lazy(() => withParts(import('./operate/AllIncidents'), 'lists', 'change'));
const Batches = lazy(() => withParts(import('./operate/Batches'), 'lists'));
const Batch = lazy(() => withParts(import('./operate/Batch'), 'lists'));
const History = lazy(() => withParts(import('./history/History'), 'instance', 'history'));
const Performance = lazy(() => withParts(import('./history/Performance'), 'history'));
const JobTypes = lazy(() => withParts(import('./workers/JobTypes'), 'lists', 'history'));
const Quarantine = lazy(() => withParts(import('./workers/Quarantine'), 'history'));
const Tasks = lazy(() => withParts(import('./tasklist/Tasks'), 'tasks', 'lists', 'log', 'login'));
const Processes = lazy(() => withParts(import('./tasklist/Processes'), 'tasks'));
const StartProcess = lazy(() => withParts(import('./tasklist/StartProcess'), 'tasks'));
const Users = lazy(() => withParts(import('./admin/Users'), 'admin', 'login'));
const Groups = lazy(() => withParts(import('./admin/Groups'), 'admin'));
const Roles = lazy(() => withParts(import('./admin/Roles'), 'admin'));
const Tenants = lazy(() => withParts(import('./admin/Tenants'), 'admin'));
const MappingRules = lazy(() => withParts(import('./admin/MappingRules'), 'admin'));
const Access = lazy(() => withParts(import('./admin/Access'), 'admin'));
const ClusterVariables = lazy(() => withParts(import('./admin/ClusterVariables'), 'admin'));
const TaskListeners = lazy(() => withParts(import('./admin/TaskListeners'), 'admin'));
const Usage = lazy(() => withParts(import('./admin/Usage'), 'admin'));
const Cluster = lazy(() => withParts(import('./admin/Cluster'), 'admin'));
const About = lazy(() => withParts(import('./admin/About'), 'admin'));
const User = lazy(() => withParts(import('./admin/User'), 'admin'));
const Members = lazy(() => withParts(import('./admin/Members'), 'admin'));
const Authorizations = lazy(() => withParts(import('./admin/Authorizations'), 'admin'));

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
            <Route path="/operate/operations-log" component={() => <LogPage views="operate/operations-log" />} />
            <Route path="/operate/batch-operations" component={Batches} />
            <Route path="/operate/batch-operations/:key" component={Batch} />
            <Route path="/tasklist/processes" component={Processes} />
            <Route path="/tasklist/processes/:id/start" component={StartProcess} />
            <Route path={['/tasklist', '/tasklist/:key', '/tasklist/:key/:tab']} component={Tasks} />
            <Route path="/admin" component={() => <Navigate href="/admin/users" />} />
            <Route path={['/identity', '/identity/:page', '/identity/:page/:id']} component={OfIdentity} />
            <Route path="/admin/users" component={Users} />
            <Route path="/admin/users/:id" component={User} />
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
            <Route path="/admin/operations-log" component={LogPage} />
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
