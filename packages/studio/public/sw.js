// The worker of the installed page. It shows notifications, also where pages may not do so themselves (phones), and
// brings the page to the thread when one is clicked. It caches nothing: the page is useless without its server.
self.addEventListener('install', () => self.skipWaiting())
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()))

self.addEventListener('notificationclick', (event) => {
  event.notification.close()
  event.waitUntil(show(event.notification.data?.thread))
})

async function show(thread) {
  const [page] = await self.clients.matchAll({ type: 'window' })
  const hash = typeof thread === 'string' ? `#/thread/${encodeURIComponent(thread)}` : ''
  if (page === undefined) return self.clients.openWindow(`/${hash}`)
  // Nothing is transferred; a client of a service worker has no target origin to name.
  page.postMessage({ type: 'open', thread }, [])
  return page.focus()
}
