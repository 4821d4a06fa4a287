/** The id of our own loop in threads. Apart from the loop, which is loaded on demand. */
export const NATIVE = 'native'
