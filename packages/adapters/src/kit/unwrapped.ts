const WRAPPED = /^(?:\/(?:usr\/)?bin\/)?bash -l?c (['"])/

/** The script of `bash -lc '…'`, where the quotes can be taken off without reading it; else the command itself. */
export function unwrapped(command: string): string {
  const wrapper = WRAPPED.exec(command)
  const quote = wrapper?.[1]
  if (wrapper === null || quote === undefined) return command
  const script = command.slice(wrapper[0].length, -1)
  const isWhole = command.length > wrapper[0].length && command.endsWith(quote) && script.trim() !== ''
  return isWhole && !(quote === "'" ? script.includes("'") : /["\\$`!]/.test(script)) ? script : command
}
