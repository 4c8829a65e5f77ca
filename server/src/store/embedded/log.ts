/** Where the embedded database reports to; a pino logger fits. */
export interface EmbeddedLog {
  info(o: object | string, msg?: string): void
  warn(o: object | string, msg?: string): void
  error(o: object | string, msg?: string): void
}
