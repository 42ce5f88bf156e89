// Notifications of the browser for new tasks, if the user wants them and the browser allows them.
import { createSignal } from 'solid-js';
import type { UserTaskResult } from '../api/generated/types';
import { t } from '../language';

const STORED = 'baton.notify';
/** How many are told one by one; a page that was away long does not flood the screen. */
const AT_ONCE_MAX = 3;

export const canNotify = (): boolean => 'Notification' in globalThis;
const [wants, setWants] = createSignal(canNotify() && Notification.permission === 'granted' && localStorage.getItem(STORED) === 'true');
export { wants };

/** Switches notifications; asks the browser the first time. False if it forbids them. */
export async function want(isOn: boolean): Promise<boolean> {
  const allowed = !isOn || (await Notification.requestPermission()) === 'granted';
  setWants(isOn && allowed);
  localStorage.setItem(STORED, String(isOn && allowed));
  return allowed;
}

/** Tells of tasks that came while nobody looked at the page. */
export function tell(tasks: readonly UserTaskResult[], open: (key: string) => void): void {
  if (!wants() || document.visibilityState === 'visible') return;
  for (const one of tasks.slice(0, AT_ONCE_MAX)) {
    const shown = new Notification(t('tasks.notify.title', { name: one.name || one.elementId }), { body: one.processName ?? one.processDefinitionId, tag: one.userTaskKey });
    shown.addEventListener('click', () => {
      window.focus();
      open(one.userTaskKey);
      shown.close();
    });
  }
}
