import type { Key } from '../language';

export type Area = 'operate' | 'tasklist' | 'admin';

/** Names of pages, each with a message `page.NAME`. */
type PageName = Key extends infer One ? (One extends `page.${infer Name}` ? Name : never) : never;

/** The areas and their pages, as the frame and the search show them. */
export const AREAS: readonly { area: Area; href: string; pages: readonly { label: PageName; href: string }[] }[] = [
  {
    area: 'operate',
    href: '/operate',
    pages: [
      { label: 'Overview', href: '/operate' },
      { label: 'Instances', href: '/operate/processes?active=true&incidents=true&suspended=true' },
      { label: 'Incidents', href: '/operate/incidents' },
      { label: 'Definitions', href: '/operate/definitions' },
      { label: 'Decisions', href: '/operate/decisions' },
      { label: 'Messages', href: '/operate/messages' },
      { label: 'Jobs', href: '/operate/jobs' },
      { label: 'Quarantine', href: '/operate/quarantine' },
      { label: 'Batch operations', href: '/operate/batch-operations' },
      { label: 'Operations log', href: '/operate/operations-log' },
    ],
  },
  {
    area: 'tasklist',
    href: '/tasklist',
    pages: [
      { label: 'Tasks', href: '/tasklist' },
      { label: 'Start a process', href: '/tasklist/processes' },
    ],
  },
  {
    area: 'admin',
    href: '/admin/users',
    pages: [
      { label: 'Users', href: '/admin/users' },
      { label: 'Groups', href: '/admin/groups' },
      { label: 'Roles', href: '/admin/roles' },
      { label: 'Tenants', href: '/admin/tenants' },
      { label: 'Mapping rules', href: '/admin/mapping-rules' },
      { label: 'Authorizations', href: '/admin/authorizations' },
      { label: 'Access', href: '/admin/access' },
      { label: 'Cluster variables', href: '/admin/cluster-variables' },
      { label: 'Task listeners', href: '/admin/global-task-listeners' },
      { label: 'Operations log', href: '/admin/operations-log' },
      { label: 'Usage', href: '/admin/usage' },
      { label: 'Cluster', href: '/admin/cluster' },
      { label: 'About', href: '/admin/about' },
    ],
  },
];
