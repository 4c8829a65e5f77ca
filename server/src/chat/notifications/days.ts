/** The log of notifications is kept by days: the number of one is that of milliseconds since the epoch, by this. */
export const dayMs = 86_400_000
