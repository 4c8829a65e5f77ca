import type { App } from '../chat/identity.ts'
import type { MediaFile } from './library.ts'

/**
 * The address at which a file is served.
 * @param origin scheme, host and port by which clients reach the service
 */
export function mediaAddress(origin: string, app: Pick<App, 'name'>, file: Pick<MediaFile, 'key' | 'name'>): string {
  return `${origin}/media/${app.name}/${file.key}/${encodeURIComponent(file.name)}`
}
