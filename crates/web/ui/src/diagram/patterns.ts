// Patterns of fields (`validate.pattern`), which form-js matches in the page: one that backtracks for ever would hold up the
// tab. They are matched in the worker of expressions instead, and a field is checked again when its result is there.
import type { Form } from '@bpmn-io/form-js-viewer';
import { t } from '../language';
import { PLAIN, type Evaluator, type Question } from './feel';

interface FieldInstance {
  id: string;
  indexes?: Record<string, number>;
}

interface Field {
  validate?: { pattern?: string | undefined; patternErrorMessage?: string };
}

interface Validator {
  validateFieldInstance: (instance: FieldInstance, value: unknown) => string[];
}

interface Commands {
  updateFieldInstanceValidation: (instance: FieldInstance, value: unknown) => void;
}

export class BoundedPatterns {
  /** Fields that wait for a result, with their values. */
  private unchecked = new Map<string, [FieldInstance, unknown]>();

  constructor(private readonly form: Form, private readonly evaluator: Evaluator) {
    const validator = form.get('validator') as Validator;
    const fields = form.get('formFieldRegistry') as { get: (id: string) => Field | undefined };
    const check = validator.validateFieldInstance.bind(validator);
    validator.validateFieldInstance = (instance, value) => {
      const field = fields.get(instance.id);
      const { pattern, patternErrorMessage } = field?.validate ?? {};
      if (!field || !pattern || typeof value !== 'string' || value === '') return check(instance, value);
      const whole = field.validate!;
      field.validate = { ...whole, pattern: undefined };
      let errors: string[];
      try {
        errors = check(instance, value);
      } finally {
        field.validate = whole;
      }
      if (this.matches(pattern, instance, value)) return errors;
      return [patternErrorMessage ?? t('form.unmatched', { pattern }), ...errors];
    };
  }

  /** Checks the fields again whose results have come. */
  checkAgain(): void {
    const unchecked = this.unchecked;
    this.unchecked = new Map();
    const commands = this.form.get('viewerCommands') as Commands;
    for (const [instance, value] of unchecked.values()) commands.updateFieldInstanceValidation(instance, value);
  }

  /** A value whose result is not there, and one whose pattern takes too long, count as matching. */
  private matches(pattern: string, instance: FieldInstance, value: string): boolean {
    const question: Question = { ...PLAIN, kind: 'pattern', text: pattern, data: JSON.stringify(value) };
    const place = JSON.stringify([instance.id, instance.indexes]);
    const result = this.evaluator.ask(question);
    if (this.evaluator.knows(question)) {
      this.unchecked.delete(place);
      return result !== false;
    }
    this.unchecked.set(place, [instance, value]);
    return true;
  }
}
