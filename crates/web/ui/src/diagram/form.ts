// The one place that knows form-js. It loads with the first form.
import { Form } from '@bpmn-io/form-js-viewer';
import { at } from '../base';
import type { DocumentReference } from '../api/generated/types';
import { documentPath } from '../ui/documents';
import '@bpmn-io/form-js-viewer/dist/assets/form-js.css';

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

  constructor(container: HTMLElement, onChange: (data: Record<string, unknown>) => void) {
    this.form = new Form({ container, additionalModules: [{ documentEndpointBuilder: ['value', { buildUrl }] }] });
    this.form.on('changed', (event: { data: Record<string, unknown> }) => onChange(event.data));
  }

  async draw(schema: string, data: Record<string, unknown>): Promise<void> {
    await this.form.importSchema(JSON.parse(schema) as object, data);
  }

  makeReadOnly(isReadOnly: boolean): void {
    this.form.setProperty('readOnly', isReadOnly);
  }

  /** Checks all fields and gives their values. */
  submit(): Submitted {
    return this.form.submit() as Submitted;
  }

  destroy(): void {
    this.form.destroy();
  }
}
