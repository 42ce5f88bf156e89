import { createEffect, createSignal, type JSX, on, onCleanup, Show } from 'solid-js';
import { Failure } from '../ui/parts';
import { jsonObject } from '../ui/json';
import type { DrawnForm } from './form';

/** Gives the values of a form as the text of a JSON object, or `undefined` if fields are wrong. */
export type Submit = () => string | undefined;

/** A Camunda form over values that are JSON text. */
export function FormView(props: {
  schema: string;
  values: ReadonlyMap<string, string>;
  readOnly: boolean;
  onReady: (submit: Submit) => void;
  onChange?: (data: Record<string, unknown>) => void;
}): JSX.Element {
  let container!: HTMLDivElement;
  const [failure, setFailure] = createSignal<unknown>();
  const [form, setForm] = createSignal<DrawnForm>();
  let isGone = false;
  const draw = async () => {
    try {
      const { DrawnForm } = await import('./form');
      if (isGone) return;
      const data = Object.fromEntries([...props.values].map(([name, text]) => [name, JSON.parse(text) as unknown]));
      const before = new Map(Object.entries(data).map(([name, value]) => [name, JSON.stringify(value)]));
      const drawn = new DrawnForm(container, (data) => props.onChange?.(data));
      await drawn.draw(props.schema, data);
      setForm(drawn);
      props.onReady(() => {
        const { data, errors } = drawn.submit();
        if (Object.keys(errors).length > 0) return undefined;
        // A value that nobody has touched goes back as it came, with every digit.
        const text = (name: string, value: unknown) => {
          const now = JSON.stringify(value);
          return now === before.get(name) ? props.values.get(name)! : now;
        };
        return jsonObject(Object.entries(data).filter(([, value]) => value !== undefined).map(([name, value]) => [name, text(name, value)] as const));
      });
    } catch (error) {
      setFailure(error);
    }
  };
  createEffect(on(() => props.schema, () => void draw()));
  createEffect(() => form()?.makeReadOnly(props.readOnly));
  onCleanup(() => {
    isGone = true;
    form()?.destroy();
  });
  return (
    <>
      <div class="form" ref={container} data-drawn={form() ? 'true' : undefined} />
      <Show when={failure()}>{(error) => <Failure of={error()} />}</Show>
    </>
  );
}
