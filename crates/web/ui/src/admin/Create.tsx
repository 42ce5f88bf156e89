import { createSignal, For, type JSX, Show } from 'solid-js';
import { refresh } from '../query';
import { Action, Dialog, Failure, Field } from '../ui/parts';
import { say } from '../ui/toast';

export interface Input {
  name: string;
  label: string;
  type?: 'text' | 'password' | 'email';
  required?: boolean;
}

/** A button that opens a dialog with some fields, and makes something of them. */
export function Create(props: { what: string; inputs: Input[]; create: (text: (name: string) => string) => Promise<unknown> }): JSX.Element {
  const [open, setOpen] = createSignal(false);
  const [failure, setFailure] = createSignal<unknown>();
  const [busy, setBusy] = createSignal(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (busy()) return;
    const form = new FormData(event.currentTarget as HTMLFormElement);
    setBusy(true);
    setFailure(undefined);
    try {
      await props.create((name) => String(form.get(name) ?? ''));
      await refresh();
      setOpen(false);
      say('Created');
    } catch (error) {
      setFailure(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <button class="primary" onClick={() => setOpen(true)}>
        New {props.what}
      </button>
      <Show when={open()}>
        <Dialog title={`New ${props.what}`} onClose={() => setOpen(false)}>
          <form class="stack" autocomplete="off" onSubmit={submit}>
            <For each={props.inputs}>
              {(input) => (
                <Field label={input.label}>
                  <input name={input.name} type={input.type ?? 'text'} required={input.required} autocomplete={input.type === 'password' ? 'new-password' : 'off'} />
                </Field>
              )}
            </For>
            <Show when={failure()}>{(error) => <Failure of={error()} />}</Show>
            <div class="actions">
              <button class="primary" type="submit" disabled={busy()}>
                Create
              </button>
            </div>
          </form>
        </Dialog>
      </Show>
    </>
  );
}

/** A button that asks before it deletes. */
export function Delete(props: { what: string; effect: string; do: () => Promise<unknown> }): JSX.Element {
  const [open, setOpen] = createSignal(false);
  const remove = async () => {
    await props.do();
    await refresh();
    setOpen(false);
    say('Deleted');
  };
  return (
    <>
      <button class="plain" aria-label={`Delete ${props.what}`} onClick={() => setOpen(true)}>
        Delete
      </button>
      <Show when={open()}>
        <Dialog title={`Delete ${props.what}?`} onClose={() => setOpen(false)}>
          <p>{props.effect}</p>
          <div class="actions">
            <button onClick={() => setOpen(false)}>Keep it</button>
            <Action class="danger" do={remove}>
              Delete
            </Action>
          </div>
        </Dialog>
      </Show>
    </>
  );
}
