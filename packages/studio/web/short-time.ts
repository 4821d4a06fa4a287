/** The time of today, the date of any other day. */
export function shortTime(at: number): string {
  const date = new Date(at)
  const isToday = date.toDateString() === new Date().toDateString()
  return isToday ? date.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' }) : date.toLocaleDateString()
}
