import { type IncomingHttpHeaders, IncomingMessage } from 'node:http'

/**
 * The requests of a server on which sockets open. Node hands every request with an `Upgrade` header to the listener for
 * upgrades, also those that offer h2c beside a plain request; only those for a WebSocket are meant for it, the others go
 * their usual way.
 */
export class UpgradableRequest extends IncomingMessage {
  upgradeAsParsed = false

  get upgrade(): boolean {
    return this.upgradeAsParsed && (this.method === 'CONNECT' || isWebSocket(this.headers))
  }

  set upgrade(parsed: boolean) {
    this.upgradeAsParsed = parsed
  }
}

function isWebSocket({ upgrade }: IncomingHttpHeaders): boolean {
  return upgrade?.trim().toLowerCase() === 'websocket'
}
