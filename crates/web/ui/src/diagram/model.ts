// The model of a process as pages need it: its elements, what stands in what, and what each of them does.
import { useQuery } from '@tanstack/solid-query';
import { createMemo, type Accessor } from 'solid-js';
import { getProcessDefinitionXML } from '../api/generated/operations';
import { fetchText } from '../api/http';
import { t } from '../language';

const BPMN = 'http://www.omg.org/spec/BPMN/20100524/MODEL';
const ZEEBE = 'http://camunda.org/schema/zeebe/1.0';
const NODES =
  /^(startEvent|endEvent|intermediateCatchEvent|intermediateThrowEvent|boundaryEvent|task|serviceTask|sendTask|receiveTask|userTask|manualTask|scriptTask|businessRuleTask|callActivity|subProcess|transaction|adHocSubProcess|exclusiveGateway|inclusiveGateway|parallelGateway|eventBasedGateway|complexGateway)$/;
const EVENT = /^(message|timer|signal|error|escalation|conditional|compensate|link|terminate|cancel)EventDefinition$/;

export interface Mapping {
  source: string;
  target: string;
}

export interface Listener {
  kind: 'execution' | 'task';
  event: string;
  type: string;
  retries: string;
}

export interface ModelElement {
  id: string;
  name: string;
  /** As the model has it: `serviceTask`. */
  type: string;
  /** `timer`, `message` and so on, of events. */
  event: string | undefined;
  /** The scope around it: a sub-process or the process. */
  scope: string;
  attachedTo: string | undefined;
  loop: 'parallel' | 'sequential' | undefined;
  isEventSubProcess: boolean;
  isBehindEventGateway: boolean;
  /** Whether a job worker does it. */
  isOfWorker: boolean;
  /** What does its work: a job type, a process, a decision, a message. */
  does: [string, string][];
  inputs: Mapping[];
  outputs: Mapping[];
  listeners: Listener[];
}

export interface Flow {
  id: string;
  source: string;
  target: string;
}

/** A process of a file of BPMN. */
export class Model {
  readonly elements = new Map<string, ModelElement>();
  readonly flows: Flow[] = [];

  constructor(
    readonly xml: string,
    readonly id: string,
  ) {
    const file = new DOMParser().parseFromString(xml, 'text/xml');
    const process = [...file.getElementsByTagNameNS(BPMN, 'process')].find((one) => one.getAttribute('id') === id);
    if (!process) return;
    const named = new Map([...file.querySelectorAll('[id]')].map((one) => [one.getAttribute('id')!, one]));
    this.read(process, id, named);
    const gateways = new Set([...this.elements.values()].filter((one) => one.type === 'eventBasedGateway').map((one) => one.id));
    for (const flow of this.flows) {
      const target = this.elements.get(flow.target);
      if (target && gateways.has(flow.source)) target.isBehindEventGateway = true;
    }
  }

  private read(scope: Element, scopeId: string, named: ReadonlyMap<string, Element>): void {
    for (const node of scope.children) {
      const id = node.getAttribute('id');
      if (node.namespaceURI !== BPMN || !id) continue;
      if (node.localName === 'sequenceFlow') {
        this.flows.push({ id, source: node.getAttribute('sourceRef') ?? '', target: node.getAttribute('targetRef') ?? '' });
      } else if (NODES.test(node.localName)) {
        this.elements.set(id, elementOf(node, id, scopeId, named));
        this.read(node, id, named);
      }
    }
  }

  nameOf = (id: string): string => (id === this.id ? t('diagram.process') : this.elements.get(id)?.name || id);

  /** The sub-processes around an element, the outermost first. */
  scopesOf(id: string): string[] {
    const found: string[] = [];
    let scope = this.elements.get(id)?.scope;
    while (scope !== undefined && scope !== this.id) {
      found.unshift(scope);
      scope = this.elements.get(scope)?.scope;
    }
    return found;
  }

  /** Why no token can be put on an element, or nothing. */
  whyNotActivated(id: string): string | undefined {
    const one = this.elements.get(id);
    if (!one) return t('change.notActivated.noElement');
    if (one.type === 'startEvent') return t('change.notActivated.start');
    if (one.type === 'boundaryEvent') return t('change.notActivated.boundary');
    if (one.isBehindEventGateway) return t('change.notActivated.gateway');
    return undefined;
  }
}

const children = (of: Element, name: string, space = BPMN) => [...of.children].filter((one) => one.localName === name && one.namespaceURI === space);
const extension = (of: Element, name: string): Element | undefined =>
  children(of, 'extensionElements').flatMap((one) => children(one, name, ZEEBE))[0];

function elementOf(node: Element, id: string, scope: string, named: ReadonlyMap<string, Element>): ModelElement {
  const loop = children(node, 'multiInstanceLoopCharacteristics')[0];
  const definition = [...node.children].find((one) => EVENT.test(one.localName));
  const mappings = extension(node, 'ioMapping');
  const read = (name: string): Mapping[] =>
    mappings ? children(mappings, name, ZEEBE).map((one) => ({ source: one.getAttribute('source') ?? '', target: one.getAttribute('target') ?? '' })) : [];
  const listeners = (kind: Listener['kind']): Listener[] => {
    const all = extension(node, `${kind}Listeners`);
    return (all ? children(all, `${kind}Listener`, ZEEBE) : []).map((one) => ({
      kind,
      event: one.getAttribute('eventType') ?? '',
      type: one.getAttribute('type') ?? '',
      retries: one.getAttribute('retries') ?? '3',
    }));
  };
  return {
    id,
    name: node.getAttribute('name')?.trim() ?? '',
    type: node.localName,
    event: definition && EVENT.exec(definition.localName)?.[1],
    scope,
    attachedTo: node.getAttribute('attachedToRef') ?? undefined,
    loop: loop && (loop.getAttribute('isSequential') === 'true' ? 'sequential' : 'parallel'),
    isEventSubProcess: node.getAttribute('triggeredByEvent') === 'true',
    isBehindEventGateway: false,
    isOfWorker: extension(node, 'taskDefinition') !== undefined || (node.localName === 'userTask' && extension(node, 'userTask') === undefined),
    does: workOf(node, definition, named),
    inputs: read('input'),
    outputs: read('output'),
    listeners: [...listeners('execution'), ...listeners('task')],
  };
}

/** What an element does, in pairs of word and value. */
function workOf(node: Element, definition: Element | undefined, named: ReadonlyMap<string, Element>): [string, string][] {
  const found: [string, string | null | undefined][] = [];
  const task = extension(node, 'taskDefinition');
  found.push(['Job type', task?.getAttribute('type')], ['Retries of a job', task && (task.getAttribute('retries') ?? '3')]);
  found.push(['Calls the process', extension(node, 'calledElement')?.getAttribute('processId')]);
  const decision = extension(node, 'calledDecision');
  found.push(['Evaluates the decision', decision?.getAttribute('decisionId')], ['Result in', decision?.getAttribute('resultVariable')]);
  const script = extension(node, 'script');
  found.push(['Expression', script?.getAttribute('expression')], ['Result in', script?.getAttribute('resultVariable')]);
  found.push(['Form', extension(node, 'formDefinition')?.getAttribute('formId')]);
  const assigned = extension(node, 'assignmentDefinition');
  found.push(['Assignee', assigned?.getAttribute('assignee')], ['Candidate groups', assigned?.getAttribute('candidateGroups')]);
  const reference = ['messageRef', 'signalRef', 'errorRef', 'escalationRef'].map((one) => definition?.getAttribute(one) ?? node.getAttribute(one)).find(Boolean);
  const target = reference ? named.get(reference.replace(/^.*:/, '')) : undefined;
  if (target) {
    found.push([target.localName.charAt(0).toUpperCase() + target.localName.slice(1), target.getAttribute('name') ?? target.getAttribute('errorCode')]);
    found.push(['Correlation key', extension(target, 'subscription')?.getAttribute('correlationKey')]);
  }
  if (definition?.localName === 'timerEventDefinition') {
    for (const one of definition.children) found.push([one.localName.replace('time', 'Timer, '), one.textContent?.trim()]);
  }
  const loop = children(node, 'multiInstanceLoopCharacteristics')[0];
  const characteristics = loop && extension(loop, 'loopCharacteristics');
  found.push(['For each of', characteristics?.getAttribute('inputCollection')], ['as', characteristics?.getAttribute('inputElement')]);
  const headers = extension(node, 'taskHeaders');
  for (const one of headers ? children(headers, 'header', ZEEBE) : []) found.push([`Header ${one.getAttribute('key')}`, one.getAttribute('value')]);
  return found.flatMap(([word, value]) => (value ? [[word, value] as [string, string]] : []));
}

/** The file of a definition; one request for all who ask. */
export const useXml = (definitionKey: Accessor<string | undefined>) =>
  useQuery(() => {
    const key = definitionKey();
    return {
      queryKey: ['bpmn', key],
      queryFn: ({ signal }) => fetchText(getProcessDefinitionXML, { processDefinitionKey: key! }, signal),
      staleTime: Infinity,
      enabled: key !== undefined,
    };
  });

/** The model of a definition, once its file is there. */
export function useModel(definition: Accessor<{ processDefinitionKey: string; processDefinitionId: string } | undefined>): Accessor<Model | undefined> {
  const xml = useXml(() => definition()?.processDefinitionKey);
  return createMemo(() => {
    const of = definition();
    return of && xml.data ? new Model(xml.data, of.processDefinitionId) : undefined;
  });
}
