import { format as known } from '@cfworker/json-schema'

const LOCAL_TIME = /^([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?$/
const DURATION = /^P(?!$)(\d+W|(\d+Y)?(\d+M)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?)$/
const EMAIL = /^[\w.!#$%&'*+/=?^`{|}~\p{L}\p{N}-]+@[\p{L}\p{N}-]+(\.[\p{L}\p{N}-]+)*$/u

/** Formats in which schemas commonly mean more than the library accepts. */
const OWN: Readonly<Record<string, (text: string) => boolean>> = {
  // Many mean a local time, which has no zone.
  time: (text) => LOCAL_TIME.test(text) || known['time']?.(text) === true,
  // Fractions of a second are part of ISO 8601.
  duration: (text) => DURATION.test(text),
  email: (text) => EMAIL.test(text),
  'idn-email': (text) => EMAIL.test(text),
}

/** The library has one table for all its users, so ours get names that nobody else uses. */
const PREFIX = 'inspan:'
for (const [name, check] of Object.entries(OWN)) known[`${PREFIX}${name}`] = check

/** Returns the name that the library knows a format by; `undefined` if it cannot be checked. */
export function formatName(format: string): string | undefined {
  if (Object.hasOwn(OWN, format)) return `${PREFIX}${format}`
  return Object.hasOwn(known, format) && !format.startsWith(PREFIX) ? format : undefined
}
