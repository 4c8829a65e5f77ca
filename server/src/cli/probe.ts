import { request as requestPlain } from 'node:http'
import { request as requestSecure } from 'node:https'

/**
 * Asks a service on this machine for one page. Its certificate is for the name by which clients know it, which is not the address
 * that is asked here, so it is not checked.
 * @throws Error when no answer comes in time
 */
export function get(address: URL, timeoutMs: number): Promise<{ readonly status: number; readonly text: string }> {
  const request = address.protocol === 'https:' ? requestSecure : requestPlain
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(timeoutMs)
    const asked = request(address, { rejectUnauthorized: false, agent: false, signal }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('error', reject)
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    asked.on('error', (error) => {
      reject(signal.aborted ? new Error(`no answer from ${address.origin} within ${timeoutMs / 1000} s`) : error)
    })
    asked.end()
  })
}
