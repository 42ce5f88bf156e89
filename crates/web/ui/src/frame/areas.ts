export type Area = 'operate' | 'tasklist' | 'admin';

/** The areas and their pages, as the frame and the search show them. */
export const AREAS: readonly { area: Area; label: string; href: string; pages: readonly { label: string; href: string }[] }[] = [
  {
    area: 'operate',
    label: 'Operate',
    href: '/operate',
    pages: [
      { label: 'Overview', href: '/operate' },
      { label: 'Instances', href: '/operate/processes?active=true&incidents=true' },
      { label: 'Definitions', href: '/operate/definitions' },
      { label: 'Decisions', href: '/operate/decisions' },
      { label: 'Jobs', href: '/operate/jobs' },
      { label: 'Quarantine', href: '/operate/quarantine' },
      { label: 'Batch operations', href: '/operate/batch-operations' },
    ],
  },
  {
    area: 'tasklist',
    label: 'Tasklist',
    href: '/tasklist',
    pages: [
      { label: 'Tasks', href: '/tasklist' },
      { label: 'Start a process', href: '/tasklist/processes' },
    ],
  },
  {
    area: 'admin',
    label: 'Admin',
    href: '/admin/users',
    pages: [
      { label: 'Users', href: '/admin/users' },
      { label: 'Groups', href: '/admin/groups' },
      { label: 'Roles', href: '/admin/roles' },
      { label: 'Authorizations', href: '/admin/authorizations' },
      { label: 'Cluster', href: '/admin/cluster' },
    ],
  },
];
