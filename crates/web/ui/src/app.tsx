import { Navigate, Route, Router, useLocation, useParams } from '@solidjs/router';
import { createEffect, createResource, type JSX, lazy, Match, Show, Switch } from 'solid-js';
import { at, BASE, within } from './base';
import { Frame } from './frame/Frame';
import { LoginPage } from './frame/Login';
import { AREAS } from './frame/areas';
import { t } from './language';
import { startLive } from './live/poll';
import { isSignedIn, mayUse, start } from './session';
import { Failure } from './ui/parts';

const Overview = lazy(() => import('./operate/Overview'));
const Instances = lazy(() => import('./operate/Instances'));
const Instance = lazy(() => import('./operate/Instance'));
const Definitions = lazy(() => import('./operate/Definitions'));
const Definition = lazy(() => import('./operate/Definition'));
const Decisions = lazy(() => import('./operate/Decisions'));
const DecisionInstance = lazy(() => import('./operate/DecisionInstance'));
const Migrate = lazy(() => import('./operate/migrate/Migrate'));
const Messages = lazy(() => import('./operate/Messages'));
const Log = lazy(() => import('./operate/Log'));
const Incidents = lazy(() => import('./operate/AllIncidents'));
const Batches = lazy(() => import('./operate/Batches'));
const Batch = lazy(() => import('./operate/Batch'));
const History = lazy(() => import('./history/History'));
const Performance = lazy(() => import('./history/Performance'));
const JobTypes = lazy(() => import('./workers/JobTypes'));
const Quarantine = lazy(() => import('./workers/Quarantine'));
const Tasks = lazy(() => import('./tasklist/Tasks'));
const Processes = lazy(() => import('./tasklist/Processes'));
const StartProcess = lazy(() => import('./tasklist/StartProcess'));
const Users = lazy(() => import('./admin/Users'));
const Groups = lazy(() => import('./admin/Groups'));
const Roles = lazy(() => import('./admin/Roles'));
const Tenants = lazy(() => import('./admin/Tenants'));
const MappingRules = lazy(() => import('./admin/MappingRules'));
const Access = lazy(() => import('./admin/Access'));
const ClusterVariables = lazy(() => import('./admin/ClusterVariables'));
const TaskListeners = lazy(() => import('./admin/TaskListeners'));
const OperationsLog = lazy(() => import('./admin/OperationsLog'));
const Usage = lazy(() => import('./admin/Usage'));
const Cluster = lazy(() => import('./admin/Cluster'));
const About = lazy(() => import('./admin/About'));
const Members = lazy(() => import('./admin/Members'));
const Authorizations = lazy(() => import('./admin/Authorizations'));

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
