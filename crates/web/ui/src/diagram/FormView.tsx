import { createEffect, createSignal, type JSX, on, onCleanup, Show } from 'solid-js';
import { t } from '../language';
import { Failure } from '../ui/parts';
import { jsonObject } from '../ui/json';
import { sendFiles } from '../ui/documents';
import type { DrawnForm } from './form';

/** Begins the text that stands for files in the data of a form. */
const FILES = 'files::';

/** Gives the values of a form as the text of a JSON object, or `undefined` if fields are wrong. Files are sent on the way. */
export type Submit = () => Promise<string | undefined> | string | undefined;

/** The values that differ from those that the form began with; files can't be kept. */
function changes(now: Record<string, unknown>, before: ReadonlyMap<string, string>): string {
  const isFile = (value: unknown) => typeof value === 'string' && value.startsWith(FILES);
  const changed = Object.entries(now).filter(([name, value]) => value !== undefined && JSON.stringify(value) !== before.get(name));
  return JSON.stringify(Object.fromEntries(changed), (_, value: unknown) => (isFile(value) ? undefined : value));
}

/** A Camunda form over values that are JSON text. */
export function FormView(props: {
  schema: string;
  values: ReadonlyMap<string, string>;
  readOnly: boolean;
  onReady: (submit: Submit) => void;
  /** Values typed before, as `onDraft` gave them. */
  draft?: string | undefined;
  onDraft?: (draft: string) => void;
}): JSX.Element {
  let container!: HTMLDivElement;
  const [failure, setFailure] = createSignal<unknown>();
  const [form, setForm] = createSignal<DrawnForm>();
  const [isStopped, setIsStopped] = createSignal(false);
  let isGone = false;
  const draw = async () => {
    try {
      const { DrawnForm } = await import('./form');
      if (isGone) return;
      const data = Object.fromEntries([...props.values].map(([name, text]) => [name, JSON.parse(text) as unknown]));
      const before = new Map(Object.entries(data).map(([name, value]) => [name, JSON.stringify(value)]));
      let isDrawn = false;
      const drawn = new DrawnForm(container, (now) => isDrawn && props.onDraft?.(changes(now, before)), () => setIsStopped(true));
      await drawn.draw(props.schema, { ...data, ...(props.draft ? (JSON.parse(props.draft) as Record<string, unknown>) : {}) });
      isDrawn = true;
      setForm(drawn);
      const sent = new Map<string, { files: File[]; references: unknown }>();
      props.onReady(async () => {
        const { data: typed, errors, files } = await drawn.submit();
        if (Object.keys(errors).length > 0) return undefined;
        // Files that were sent before are not sent again.
        for (const [key, some] of files) if (sent.get(key)?.files !== some) sent.set(key, { files: some, references: await sendFiles(some) });
        const data = files.size > 0 ? (JSON.parse(JSON.stringify(typed), (_, value: unknown) => (typeof value === 'string' ? (sent.get(value)?.references ?? value) : value)) as Record<string, unknown>) : typed;
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
      <div class="form" ref={container} aria-busy={!form()} data-drawn={form() ? 'true' : undefined} />
      <Show when={isStopped()}><p class="muted" role="status">{t('form.stopped')}</p></Show>
      <Show when={failure()}>{(error) => <Failure of={error()} />}</Show>
    </>
  );
}
