import type { Client } from '@inspan/client'

/** Shows a notification of the browser when something waits and the page is not looked at. Returns how to stop. */
export function notifyWhenWaiting(client: Client): () => void {
  let known = new Set<string>()
  // Kept, so that they are not collected while they are shown.
  const shown: Notification[] = []
  return client.subscribe(({ head, pendingApprovals = [] }) => {
    const fresh = pendingApprovals.filter(({ waitId }) => !known.has(waitId))
    known = new Set(pendingApprovals.map(({ waitId }) => waitId))
    if (!document.hidden || !('Notification' in globalThis) || Notification.permission !== 'granted') return
    for (const { description, waitId } of fresh)
      shown.push(new Notification(head.title ?? 'Inspan', { body: description, tag: waitId }))
  })
}

export function canNotify(): boolean {
  return 'Notification' in globalThis && Notification.permission === 'default'
}

export async function allowNotifications(): Promise<void> {
  await Notification.requestPermission()
}
