import { useSyncExternalStore } from 'react'

/** What the page shows. It is in the address, so that a reload, a bookmark and the back button work. */
export type Route =
  | { readonly view: 'home' }
  | { readonly view: 'thread'; readonly thread?: string }
  | { readonly view: 'replay'; readonly thread: string }
  | { readonly view: 'compare'; readonly comparison?: string }

export function readRoute(hash: string): Route {
  const [view, id] = hash.replace(/^#\/?/, '').split('/')
  const given = id === undefined || id === '' ? undefined : decodeURIComponent(id)
  if (view === 'thread') return { view, ...(given === undefined ? {} : { thread: given }) }
  if (view === 'replay' && given !== undefined) return { view, thread: given }
  if (view === 'compare') return { view, ...(given === undefined ? {} : { comparison: given }) }
  return { view: 'home' }
}

function addressOf(route: Route): string {
  if (route.view === 'home') return '#/home'
  const id = route.view === 'compare' ? route.comparison : route.thread
  return `#/${route.view}${id === undefined ? '' : `/${encodeURIComponent(id)}`}`
}

export function goTo(route: Route): void {
  const address = addressOf(route)
  if (location.hash !== address) location.hash = address
}

export function useRoute(): Route {
  const hash = useSyncExternalStore(subscribe, () => location.hash)
  return readRoute(hash)
}

function subscribe(listener: () => void): () => void {
  addEventListener('hashchange', listener)
  return () => removeEventListener('hashchange', listener)
}
