const DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
const CLOCK = /^([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?/
const ZONE = /^(z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i
const DURATION = /^P(?!$)(\d+W|(\d+Y)?(\d+M)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?)$/
const HOST = /^(?=.{1,253}$)([a-z\d]([a-z\d-]{0,61}[a-z\d])?)(\.[a-z\d]([a-z\d-]{0,61}[a-z\d])?)*$/i
const EMAIL = /^[\w.!#$%&'*+/=?^`{|}~\p{L}\p{N}-]+@[\p{L}\p{N}-]+(\.[\p{L}\p{N}-]+)*$/u
const IPV4 = /^((25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(\.(?!$)|$)){4}$/
const UUID = /^[\da-f]{8}-([\da-f]{4}-){3}[\da-f]{12}$/i
const POINTER = /^(\/([^~/]|~[01])*)*$/
const SCHEME = /^[a-z][a-z\d+.-]*:\S+$/i

const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  date: isDate,
  // Many mean a local time, which has no zone.
  time: (text) => isTime(text, true),
  'date-time': (text) => /^.{10}[t\s]/i.test(text) && isDate(text.slice(0, 10)) && isTime(text.slice(11), false),
  duration: (text) => DURATION.test(text),
  email: (text) => EMAIL.test(text),
  'idn-email': (text) => EMAIL.test(text),
  hostname: (text) => HOST.test(text),
  ipv4: (text) => IPV4.test(text),
  ipv6: (text) => /^[\da-f:.]+$/i.test(text) && URL.canParse(`http://[${text}]`),
  uri: (text) => SCHEME.test(text) && URL.canParse(text),
  url: (text) => SCHEME.test(text) && URL.canParse(text),
  'uri-reference': (text) => !/\s/.test(text) && URL.canParse(text, 'http://base.invalid'),
  uuid: (text) => UUID.test(text),
  'json-pointer': (text) => POINTER.test(text),
  regex: (text) => readPattern(text) !== undefined,
}

export function isKnownFormat(format: string): boolean {
  return Object.hasOwn(FORMATS, format)
}

/** Also true for an unknown format, which `schemaProblems` names. */
export function checkFormat(format: string, text: string): boolean {
  return isKnownFormat(format) ? FORMATS[format]?.(text) === true : true
}

function isTime(text: string, isZoneOptional: boolean): boolean {
  const [clock] = CLOCK.exec(text) ?? []
  if (clock === undefined) return false
  const zone = text.slice(clock.length)
  return zone === '' ? isZoneOptional : ZONE.test(zone)
}

function isDate(text: string): boolean {
  const [, year = '', month = '', day = ''] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? []
  const days = DAYS[Number(month) - 1]
  if (days === undefined || Number(day) < 1 || Number(day) > days) return false
  return month !== '02' || Number(day) < 29 || new Date(Date.UTC(Number(year), 1, 29)).getUTCDate() === 29
}

/** Returns the regular expression, in Unicode mode if possible; `undefined` if it is invalid. */
export function readPattern(pattern: string): RegExp | undefined {
  for (const flags of ['u', '']) {
    try {
      return new RegExp(pattern, flags)
    } catch {
      // Some escapes are only allowed without Unicode mode.
    }
  }
  return undefined
}
