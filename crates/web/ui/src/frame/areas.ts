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
      { label: 'Incidents', href: '/operate/incidents' },
      { label: 'Definitions', href: '/operate/definitions' },
      { label: 'Decisions', href: '/operate/decisions' },
      { label: 'Messages', href: '/operate/messages' },
      { label: 'Batch operations', href: '/operate/batch-operations' },
      { label: 'Operations log', href: '/operate/operations-log' },
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
    ],
  },
];
