// FEEL and patterns in forms. Deployed forms run in the browsers of others, so their work is bounded: expressions and
// patterns are evaluated in a worker, which is ended when one takes too long. form-js wants results at once: it gets the last one,
// and is drawn again when there is a newer one.
import { escapeHTML, FeelersTemplating, FeelExpressionLanguage } from '@bpmn-io/form-js-viewer';

/** The time of one evaluation. */
const EVALUATION_MAX_MS = 500;
/** After so many expressions that took longer, a form computes nothing more. */
const STOPPED_MAX = 10;
/** Results that are remembered. */
const KNOWN_MAX = 2_000;
/** How often a form is drawn again without anybody typing: a field that computes itself never comes to rest. */
const ROUNDS_MAX = 20;

export interface Question {
  kind: 'expression' | 'unaryTest' | 'template' | 'pattern';
  text: string;
  /** What it may refer to, as JSON. */
  data: string;
  isDebug: boolean;
  isStrict: boolean;
  isHtml: boolean;
}

export interface Answer {
  /** JSON. */
  result?: string | undefined;
  isTooLarge?: boolean;
}

/** Evaluates expressions one after the other. */
export class Evaluator {
  private worker: Worker | undefined;
  private isReady = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly waiting = new Map<string, Question>();
  /** Results by question, and the last one of each text. */
  private readonly known = new Map<string, unknown>();
  private readonly last = new Map<string, unknown>();
  private readonly stopped = new Set<string>();
  private resting: (() => void)[] = [];
  private rounds = 0;
  private isAtRest = true;

  /** `onNews` draws again; `onStopped` is told once. */
  constructor(private readonly onNews: () => void, private readonly onStopped: () => void) {}

  /** The result, as far as it is known. */
  ask(question: Question): unknown {
    const name = `${question.kind} ${question.text}`;
    if (this.stopped.has(name)) return null;
    const key = JSON.stringify(question);
    if (this.known.has(key)) return this.known.get(key);
    if (this.rounds <= ROUNDS_MAX && this.stopped.size < STOPPED_MAX) {
      this.waiting.set(key, question);
      this.isAtRest = false;
      this.next();
    }
    return this.last.get(name) ?? null;
  }

  /** False as long as [`ask`] gives an older result, or none. */
  knows(question: Question): boolean {
    return this.known.has(JSON.stringify(question)) || this.stopped.has(`${question.kind} ${question.text}`);
  }

  /** Somebody has changed something. */
  beginAnew(): void {
    this.rounds = 0;
  }

  /** Resolves when everything that was asked is known, and drawn. */
  async rest(): Promise<void> {
    if (!this.isAtRest) await new Promise<void>((resolve) => this.resting.push(resolve));
  }

  get isResting(): boolean {
    return this.isAtRest;
  }

  end(): void {
    clearTimeout(this.timer);
    this.worker?.terminate();
    this.worker = undefined;
    this.waiting.clear();
    this.settle();
  }

  private next(): void {
    if (this.timer !== undefined || this.waiting.size === 0) return;
    if (!this.worker) {
      const worker = new Worker(new URL('./feel.worker.ts', import.meta.url), { type: 'module' });
      worker.onmessage = ({ data }: MessageEvent<Answer | 'ready'>) => (data === 'ready' ? this.begin() : this.take(data));
      // One that cannot be loaded answers nothing.
      worker.onerror = () => this.take({});
      this.worker = worker;
      this.isReady = false;
    }
    // The time that it takes to load is not that of an expression.
    if (this.isReady) this.send();
  }

  private begin(): void {
    this.isReady = true;
    this.next();
  }

  private send(): void {
    const [question] = this.waiting.values();
    this.timer = setTimeout(() => {
      this.worker?.terminate();
      this.worker = undefined;
      this.take({ isTooLarge: true });
    }, EVALUATION_MAX_MS);
    this.worker!.postMessage(question);
  }

  private take({ result, isTooLarge }: Answer): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const [first] = this.waiting;
    if (!first) return;
    const [key, question] = first;
    this.waiting.delete(key);
    const name = `${question.kind} ${question.text}`;
    const value: unknown = result === undefined ? null : JSON.parse(result);
    if (this.known.size >= KNOWN_MAX) this.known.clear();
    this.known.set(key, value);
    this.last.set(name, value);
    if (isTooLarge) {
      this.stopped.add(name);
      if (this.stopped.size >= STOPPED_MAX) this.waiting.clear();
      this.onStopped();
    }
    if (this.waiting.size > 0) return this.next();
    this.rounds += 1;
    this.isAtRest = true;
    // Drawing may ask for more.
    this.onNews();
    if (this.isAtRest) this.settle();
  }

  private settle(): void {
    const resting = this.resting;
    this.resting = [];
    for (const resolve of resting) resolve();
  }
}

export const PLAIN = { isDebug: false, isStrict: false, isHtml: false };

export class BoundedLanguage extends FeelExpressionLanguage {
  constructor(private readonly evaluator: Evaluator) {
    super(null);
  }

  override evaluate(expression: string, data: object = {}): unknown {
    if (!this.isExpression(expression)) return null;
    return this.evaluator.ask({ ...PLAIN, kind: 'expression', text: expression.slice(1), data: JSON.stringify(data) });
  }

  override evaluateUnaryTest(expression: string, data: object = {}): boolean | null {
    if (!this.isExpression(expression)) return null;
    return this.evaluator.ask({ ...PLAIN, kind: 'unaryTest', text: expression.slice(1), data: JSON.stringify(data) }) as boolean | null;
  }
}

export class BoundedTemplating extends FeelersTemplating {
  constructor(private readonly evaluator: Evaluator) {
    super();
  }

  override evaluate(text: string, data: object = {}, options: { debug?: boolean; strict?: boolean; sanitizer?: unknown } = {}): string {
    const { debug = false, strict = false, sanitizer } = options;
    if (sanitizer !== undefined && sanitizer !== escapeHTML) throw new Error('an unknown way to escape values');
    const how = { isDebug: debug, isStrict: strict, isHtml: sanitizer !== undefined };
    return (this.evaluator.ask({ ...how, kind: 'template', text, data: JSON.stringify(data) }) ?? '') as string;
  }
}
