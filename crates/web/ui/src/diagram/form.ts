// The one place that knows form-js. It loads with the first form.
import { Form } from '@bpmn-io/form-js-viewer';
import { at } from '../base';
import type { DocumentReference } from '../api/generated/types';
import { documentPath } from '../ui/documents';
import { BoundedLanguage, BoundedTemplating, Evaluator } from './feel';
import { BoundedPatterns } from './patterns';
import '@bpmn-io/form-js-viewer/dist/assets/form-js.css';

/** How often values are taken anew while expressions still change them. */
const SUBMISSIONS_MAX = 5;

export interface Submitted {
  data: Record<string, unknown>;
  /** Files by the text that stands for them in the data. */
  files: Map<string, File[]>;
  /** Fields with what is wrong about them. */
  errors: Record<string, unknown>;
}

/** Where a form fetches a document that it shows: from this server, whatever its data names. */
const buildUrl = (document: DocumentReference): string => new URL(at(documentPath(document)), location.origin).href;

/** A drawn form. */
export class DrawnForm {
  private readonly form: Form;
  private readonly evaluator: Evaluator;
  private readonly patterns: BoundedPatterns;

  /** `onStopped` is called when an expression of the form takes too long. */
  constructor(container: HTMLElement, onChange: (data: Record<string, unknown>) => void, onStopped: () => void) {
    this.evaluator = new Evaluator(() => this.drawAgain(), onStopped);
    const bounded = {
      expressionLanguage: ['value', new BoundedLanguage(this.evaluator)],
      templating: ['value', new BoundedTemplating(this.evaluator)],
    };
    // Without a delay: what is typed must be known when the form is drawn again.
    const options = { container, debounce: false, additionalModules: [{ documentEndpointBuilder: ['value', { buildUrl }], ...bounded }] };
    this.form = new Form(options);
    this.patterns = new BoundedPatterns(this.form, this.evaluator);
    this.form.on('changed', (event: { data: Record<string, unknown> }) => onChange(event.data));
    this.form.on('field.updated', (event: { shouldNotRecompute?: boolean }) => {
      if (!event.shouldNotRecompute) this.evaluator.beginAnew();
    });
  }

  /** Resolves when what the form computes is shown, too. */
  async draw(schema: string, data: Record<string, unknown>): Promise<void> {
    await this.form.importSchema(JSON.parse(schema) as object, data);
    await this.evaluator.rest();
  }

  private drawAgain(): void {
    const form = this.form as unknown as { _getState: () => { data: object | null }; _setState: (state: object) => void };
    const { data } = form._getState();
    if (!data) return;
    this.patterns.checkAgain();
    // Fields that compute their value do so once for each change.
    (this.form.get('expressionLoopPreventer') as { reset: () => void }).reset();
    form._setState({ data: { ...data } });
  }

  makeReadOnly(isReadOnly: boolean): void {
    this.form.setProperty('readOnly', isReadOnly);
  }

  /** Checks all fields and gives their values. */
  async submit(): Promise<Submitted> {
    await this.evaluator.rest();
    let submitted = this.form.submit() as Submitted;
    for (let count = 1; !this.evaluator.isResting && count < SUBMISSIONS_MAX; count += 1) {
      await this.evaluator.rest();
      submitted = this.form.submit() as Submitted;
    }
    return submitted;
  }

  destroy(): void {
    this.evaluator.end();
    this.form.destroy();
  }
}
