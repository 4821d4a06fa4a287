import { useEffect, useRef, type RefObject } from 'react'
import type { VListHandle } from 'virtua'

/** Closer than this is at the end, in pixels. */
const CLOSE = 40

interface Place {
  readonly top: number
  readonly height: number
  readonly room: number
}

export interface ListEnd {
  /** The element around the list. */
  readonly frame: RefObject<HTMLElement | null>
  readonly isFollowed: RefObject<boolean>
  readonly onScroll: () => void
}

/** Keeps the end of a list in view, until somebody scrolls up. */
export function useEnd(list: RefObject<VListHandle | null>, count: number): ListEnd {
  const frame = useRef<HTMLElement>(null)
  const isFollowed = useRef(true)
  const last = useRef(count - 1)
  const before = useRef<Place>({ top: 0, height: 0, room: 0 })
  last.current = count - 1
  const isEmpty = count === 0
  useEffect(() => {
    const [outer, scroller] = [frame.current, scrollerIn(frame)]
    if (isEmpty || outer === null || scroller === undefined) return
    const observer = new ResizeObserver((entries) => {
      before.current = placeOf(scroller)
      // What waits takes its room from the conversation, whose end must not disappear behind it.
      const isFrame = entries.some(({ target }) => target === outer)
      if (isFrame && isFollowed.current) list.current?.scrollToIndex(last.current, { align: 'end' })
    })
    observer.observe(outer)
    if (scroller.firstElementChild !== null) observer.observe(scroller.firstElementChild)
    return () => observer.disconnect()
  }, [isEmpty, list])
  const onScroll = (): void => {
    const scroller = scrollerIn(frame)
    if (scroller === undefined) return
    const now = placeOf(scroller)
    const { height, room, top } = before.current
    before.current = now
    if (now.height - now.room - now.top < CLOSE) isFollowed.current = true
    // A browser also scrolls by itself, when there is less to show or more room: only a person leaves the end.
    else if (now.top < top && now.height === height && now.room === room) isFollowed.current = false
  }
  return { frame, isFollowed, onScroll }
}

function scrollerIn(frame: RefObject<HTMLElement | null>): Element | undefined {
  return frame.current?.firstElementChild ?? undefined
}

function placeOf({ clientHeight, scrollHeight, scrollTop }: Element): Place {
  return { top: scrollTop, height: scrollHeight, room: clientHeight }
}
