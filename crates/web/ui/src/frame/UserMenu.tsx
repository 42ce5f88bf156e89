import { createSignal, For, type JSX, lazy, Show } from 'solid-js';
import { chooseLanguage, chosen, LANGUAGES, nameOf, t, withParts } from '../language';
import { boot, signOut, user } from '../session';
import { Menu } from '../ui/Menu';
import { Action, Field } from '../ui/parts';
import { setTimes, times, TIMES, type Times } from '../ui/times';
import { setTheme, theme, THEMES, type Theme } from './theme';

const OwnPassword = lazy(() => withParts(import('./OwnPassword'), 'admin', 'login'));

/** The choice of a language, in the menu and at the login. */
export function Language(props: { label?: string }): JSX.Element {
  return (
    <select aria-label={props.label} onChange={(event) => void chooseLanguage(event.currentTarget.value)}>
      <option value="system">{t('frame.language.system')}</option>
      <For each={LANGUAGES}>
        {(one) => (
          <option value={one} lang={one} selected={one === chosen()}>
            {nameOf(one)}
          </option>
        )}
      </For>
    </select>
  );
}

/** Who is signed in, and how pages look to them. */
export function UserMenu(): JSX.Element {
  const name = () => user()?.displayName || user()?.username;
  const [isChanging, setChanging] = createSignal(false);
  return (
    <>
      <Menu class="user" button={<span>{name() ?? t('frame.settings')}</span>}>
        <div class="stack">
          <Show when={user()?.email}>{(email) => <span class="muted">{email()}</span>}</Show>
          <Field label={t('frame.theme')}>
            <select value={theme()} onChange={(event) => setTheme(event.currentTarget.value as Theme)}>
              <For each={THEMES}>{(one) => <option value={one}>{t(`frame.theme.${one}`)}</option>}</For>
            </select>
          </Field>
          <Field label={t('frame.times')}>
            <select value={times()} onChange={(event) => setTimes(event.currentTarget.value as Times)}>
              <For each={TIMES}>{(one) => <option value={one}>{t(`frame.times.${one}`)}</option>}</For>
            </select>
          </Field>
          <Field label={t('frame.language')}>
            <Language />
          </Field>
          <Show when={user() && boot()?.signIn === 'PASSWORD'}>
            <button onClick={() => setChanging(true)}>{t('password.own')}</button>
          </Show>
          <Show when={user()}>
            <Action do={signOut}>{t('frame.signOut')}</Action>
          </Show>
        </div>
      </Menu>
      <Show when={isChanging()}>
        <OwnPassword onClose={() => setChanging(false)} />
      </Show>
    </>
  );
}
