import type { ThreadOverview } from '@inspan/client'

/** Waits that were already shown, so that each is announced once. */
const known = new Set<string>()

/** Lets the page be installed, and notifications reach it. `onOpen` is called with the thread of one that is clicked. */
export function installWorker(onOpen: (thread: string) => void): () => void {
  if (!('serviceWorker' in navigator)) return () => undefined
  // Without a worker the page works all the same.
  navigator.serviceWorker.register('/sw.js').catch(() => undefined)
  const onMessage = (event: MessageEvent<{ readonly thread?: unknown }>): void => {
    if (typeof event.data.thread === 'string') onOpen(event.data.thread)
  }
  navigator.serviceWorker.addEventListener('message', onMessage)
  return () => navigator.serviceWorker.removeEventListener('message', onMessage)
}

/** Shows a notification of the browser when something waits and the page is not looked at. */
export function notifyWhenWaiting(threads: readonly ThreadOverview[]): void {
  for (const { id, pendingApprovals = [], title } of threads) {
    for (const { description, waitId } of pendingApprovals) {
      if (known.has(waitId)) continue
      known.add(waitId)
      if (!document.hidden || !('Notification' in globalThis) || Notification.permission !== 'granted') continue
      void navigator.serviceWorker.ready.then((worker) =>
        worker.showNotification(title ?? 'Inspan', { body: description, tag: waitId, data: { thread: id } }),
      )
    }
  }
}

export function canNotify(): boolean {
  return 'Notification' in globalThis && 'serviceWorker' in navigator && Notification.permission === 'default'
}

export async function allowNotifications(): Promise<void> {
  await Notification.requestPermission()
}
