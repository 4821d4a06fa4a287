import type { ThreadOverview } from '@inspan/client'

/** Waits that were already shown, so that each is announced once. */
const known = new Set<string>()
/** Kept, so that they are not collected while they are shown. */
const shown: Notification[] = []

/** Shows a notification of the browser when something waits and the page is not looked at. */
export function notifyWhenWaiting(threads: readonly ThreadOverview[], onOpen: (thread: string) => void): void {
  for (const { id, pendingApprovals = [], title } of threads) {
    for (const { description, waitId } of pendingApprovals) {
      if (known.has(waitId)) continue
      known.add(waitId)
      if (!document.hidden || !('Notification' in globalThis) || Notification.permission !== 'granted') continue
      const notification = new Notification(title ?? 'Inspan', { body: description, tag: waitId })
      notification.addEventListener('click', () => {
        focus()
        onOpen(id)
      })
      shown.push(notification)
    }
  }
}

export function canNotify(): boolean {
  return 'Notification' in globalThis && Notification.permission === 'default'
}

export async function allowNotifications(): Promise<void> {
  await Notification.requestPermission()
}
