// Permissions of each action: of each list, one. The engine has the same rules, and its refusal is the last word.
import type { CamundaUserResult, PermissionTypeEnum, ResourceTypeEnum, UserTaskResult } from './api/generated/types';

export interface Need {
  resourceType: ResourceTypeEnum;
  permissionType: PermissionTypeEnum;
  /** Without it, the permission must be for all resources of the type. */
  resourceId?: string;
  /** Whether a permission for any one resource will do. */
  orAny?: boolean;
  /** Properties of a user task that name the user: a permission for one of them will do, too. */
  properties?: readonly string[];
}

/** One of each list. The first of a list is told as missing. */
export type Needs = readonly (readonly Need[])[];

export const need = (resourceType: ResourceTypeEnum, permissionType: PermissionTypeEnum, resourceId?: string): Needs => [[{ resourceType, permissionType, ...(resourceId === undefined ? {} : { resourceId }) }]];

/** Nothing is missing for a process that is not known yet. */
export const ofProcess = (permissionType: PermissionTypeEnum, processDefinitionId: string | undefined): Needs => (processDefinitionId ? need('PROCESS_DEFINITION', permissionType, processDefinitionId) : []);

/** Something of any process: each is refused or not by itself. */
export const ofAnyProcess = (permissionType: PermissionTypeEnum): Needs => [[{ resourceType: 'PROCESS_DEFINITION', permissionType, orAny: true }]];

/** A variable of an instance, or of an element in it; of a user task, who may change that may change its variables. */
export const ofVariable = (processDefinitionId: string, isOfInstance: boolean): Needs => [
  (['UPDATE_PROCESS_INSTANCE', ...(isOfInstance ? [] : (['UPDATE_USER_TASK'] as const))] as const).map((permissionType) => ({ resourceType: 'PROCESS_DEFINITION', permissionType, resourceId: processDefinitionId })),
];

type BatchKind = PermissionTypeEnum extends infer One ? (One extends `CREATE_BATCH_OPERATION_${infer Kind}` ? Kind : never) : never;

/** A batch operation of a kind. */
export const ofBatch = (kind: BatchKind): Needs => [
  [
    { resourceType: 'BATCH', permissionType: `CREATE_BATCH_OPERATION_${kind}` },
    { resourceType: 'BATCH', permissionType: 'CREATE' },
  ],
];

/** A signal takes a permission for each process that it reaches, which the server alone knows; without any, it is in vain. */
export const ofSignal: Needs = [
  [
    { resourceType: 'PROCESS_DEFINITION', permissionType: 'UPDATE_PROCESS_INSTANCE', orAny: true },
    { resourceType: 'PROCESS_DEFINITION', permissionType: 'CREATE_PROCESS_INSTANCE', orAny: true },
  ],
];

/** A migration takes the permission for the process that is left, and for the one that is gone to. */
export const ofMigration = (isSingle: boolean, source: string | undefined, target: string | undefined): Needs => [
  ...(isSingle ? ofProcess('UPDATE_PROCESS_INSTANCE', source) : ofBatch('MIGRATE_PROCESS_INSTANCE')),
  ...ofProcess('UPDATE_PROCESS_INSTANCE', target),
];

type Who = Pick<CamundaUserResult, 'username' | 'groups'> | undefined;
type Whose = Pick<UserTaskResult, 'userTaskKey' | 'processDefinitionId' | 'assignee' | 'candidateUsers' | 'candidateGroups'>;

/** How a task names a user. */
export function propertiesOf(task: Whose, who: Who): string[] {
  const isNamed: Record<string, boolean> = {
    assignee: task.assignee !== null && task.assignee === who?.username,
    candidateUsers: task.candidateUsers.includes(who?.username ?? ''),
    candidateGroups: task.candidateGroups.some((group) => who?.groups.includes(group)),
  };
  return Object.keys(isNamed).filter((property) => isNamed[property]);
}

const OF_TASK = {
  update: [['UPDATE_USER_TASK', 'UPDATE']],
  claim: [['CLAIM_USER_TASK', 'CLAIM'], ['UPDATE_USER_TASK', 'UPDATE']],
  complete: [['COMPLETE_USER_TASK', 'COMPLETE'], ['UPDATE_USER_TASK', 'UPDATE']],
} as const satisfies Record<string, readonly (readonly [PermissionTypeEnum, PermissionTypeEnum])[]>;

/** Something with a task: by all tasks of its process, by itself, or by how it names the user. */
export const ofTask = (what: keyof typeof OF_TASK, task: Whose, who: Who): Needs => [
  [
    ...OF_TASK[what].map(([permissionType]): Need => ({ resourceType: 'PROCESS_DEFINITION', permissionType, resourceId: task.processDefinitionId })),
    ...OF_TASK[what].map(([, permissionType]): Need => ({ resourceType: 'USER_TASK', permissionType, resourceId: task.userTaskKey, properties: propertiesOf(task, who) })),
  ],
];
