import { untouched } from '../../chat/erasure.ts'

export const tables = [
  untouched('webhooks', 'webhooks are of the app'),
  untouched('webhook_triggers', 'webhooks are of the app'),
  untouched('webhook_states', 'webhooks are of the app'),
  untouched('webhook_deliveries', 'they name events; bodies are rendered for each attempt'),
]
