import { createSignal, For, type JSX, Match, Show, Switch } from 'solid-js';
import { t } from '../language';
import { refresh } from '../query';
import type { Needs } from '../rights';
import { Action, Dialog, Failure, Field } from '../ui/parts';
import { type Find, Picker } from '../ui/Picker';
import { say } from '../ui/toast';

export interface Input {
  name: string;
  label: string;
  type?: 'text' | 'password' | 'email' | 'number' | 'checkbox' | 'json' | 'lines' | 'datetime-local';
  required?: boolean;
  hint?: string;
  value?: string;
  /** The least number, or characters of a password. */
  min?: number;
  max?: number;
  /** Values to choose from, with their words. */
  options?: readonly (readonly [string, string])[];
  /** Whether several of the options may be chosen. */
  several?: boolean;
  /** Suggestions of the server. */
  find?: Find;
}

/** Reads a form: the text of a field, and all values of one that may have several. */
export interface Answers {
  (name: string): string;
  all: (name: string) => string[];
}

function One(props: { input: Input }): JSX.Element {
  const input = props.input;
  return (
    <Switch
      fallback={
        <Field label={input.label} hint={input.hint ?? ''}>
          <input
            name={input.name}
            type={input.type ?? 'text'}
            required={input.required}
            min={input.type === 'password' ? undefined : input.min}
            minLength={input.type === 'password' ? input.min : undefined}
            max={input.max}
            autocomplete={input.type === 'password' ? 'new-password' : 'off'}
            ref={(one) => (one.defaultValue = input.value ?? '')}
          />
        </Field>
      }
    >
      <Match when={input.several}>
        <fieldset>
          <legend>{input.label}</legend>
          <For each={input.options}>
            {([value, word]) => (
              <label class="row">
                <input type="checkbox" name={input.name} value={value} checked={(input.value ?? '').split(',').includes(value)} /> {word}
              </label>
            )}
          </For>
        </fieldset>
      </Match>
      <Match when={input.options}>
        <Field label={input.label} hint={input.hint ?? ''}>
          <select name={input.name}>
            <For each={input.options}>
              {([value, word]) => (
                <option value={value} selected={value === input.value}>
                  {word}
                </option>
              )}
            </For>
          </select>
        </Field>
      </Match>
      <Match when={input.find}>
        {(find) => (
          <Field label={input.label} hint={input.hint ?? ''}>
            <Picker name={input.name} label={input.label} find={find()} required={input.required} value={input.value} />
          </Field>
        )}
      </Match>
      <Match when={input.type === 'checkbox'}>
        <label class="row">
          <input type="checkbox" name={input.name} value="true" checked={input.value === 'true'} /> {input.label}
        </label>
      </Match>
      <Match when={input.type === 'json' || input.type === 'lines'}>
        <Field label={input.label} hint={input.hint ?? ''}>
          <textarea name={input.name} rows={6} required={input.required} spellcheck={false} ref={(one) => (one.defaultValue = input.value ?? '')} />
        </Field>
      </Match>
    </Switch>
  );
}

/** A dialog with some fields. Typed text stays until the server has taken it. */
export function FormDialog(props: {
  title: string;
  button: string;
  inputs: Input[];
  send: (answers: Answers) => Promise<unknown>;
  done: string;
  onClose: () => void;
}): JSX.Element {
  const [failure, setFailure] = createSignal<unknown>();
  const [busy, setBusy] = createSignal(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (busy()) return;
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const answers = Object.assign((name: string) => String(form.get(name) ?? ''), { all: (name: string) => form.getAll(name).map(String) });
    setBusy(true);
    setFailure(undefined);
    try {
      await props.send(answers);
      await refresh();
      props.onClose();
      say(props.done);
    } catch (error) {
      setFailure(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <form class="stack" autocomplete="off" onSubmit={submit}>
        <For each={props.inputs}>{(input) => <One input={input} />}</For>
        <Show when={failure()}>{(error) => <Failure of={error()} />}</Show>
        <div class="actions">
          <button class="primary" type="submit" disabled={busy()} aria-busy={busy()}>
            {props.button}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** A button that opens a dialog with some fields, and makes something of them: `label` says what, as in `New group`. */
export function Create(props: { needs: Needs; label: string; inputs: Input[]; create: (answers: Answers) => Promise<unknown> }): JSX.Element {
  const [open, setOpen] = createSignal(false);
  return (
    <>
      <Action class="primary" needs={props.needs} do={() => setOpen(true)}>
        {props.label}
      </Action>
      <Show when={open()}>
        <FormDialog title={props.label} button={t('admin.create')} inputs={props.inputs} send={props.create} done={t('admin.created')} onClose={() => setOpen(false)} />
      </Show>
    </>
  );
}

/** A button that opens a dialog with what is there, to change it. `inputs` may have to be read first. */
export function Edit(props: { needs: Needs; what: string; inputs: () => Input[] | Promise<Input[]>; save: (answers: Answers) => Promise<unknown> }): JSX.Element {
  const [inputs, setInputs] = createSignal<Input[]>();
  return (
    <>
      <Action class="plain" label={t('admin.edit.one', { what: props.what })} needs={props.needs} do={async () => setInputs(await props.inputs())}>
        {t('admin.edit')}
      </Action>
      <Show when={inputs()}>
        {(known) => <FormDialog title={t('admin.edit.one', { what: props.what })} button={t('admin.save')} inputs={known()} send={props.save} done={t('admin.saved')} onClose={() => setInputs(undefined)} />}
      </Show>
    </>
  );
}

/** A button that asks before it deletes. */
export function Delete(props: { needs: Needs; what: string; effect: string; do: () => Promise<unknown> }): JSX.Element {
  const [open, setOpen] = createSignal(false);
  const remove = async () => {
    await props.do();
    await refresh();
    setOpen(false);
    say(t('admin.deleted'));
  };
  return (
    <>
      <Action class="plain" label={t('admin.delete.one', { what: props.what })} needs={props.needs} do={() => setOpen(true)}>
        {t('admin.delete')}
      </Action>
      <Show when={open()}>
        <Dialog title={t('admin.delete.ask', { what: props.what })} onClose={() => setOpen(false)}>
          <p>{props.effect}</p>
          <div class="actions">
            <button onClick={() => setOpen(false)}>{t('admin.delete.keep')}</button>
            <Action class="danger" do={remove}>
              {t('admin.delete')}
            </Action>
          </div>
        </Dialog>
      </Show>
    </>
  );
}
