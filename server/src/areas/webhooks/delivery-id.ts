/** As listed, and as the header `webhook-id` says: the same for every attempt. */
export function deliveryId(webhook: number, id: number): string {
  return `dlv_${webhook}_${id}`
}

/** @returns the number of a delivery to this webhook; undefined for text that is no id of one */
export function parseDeliveryId(webhook: number, text: string): number | undefined {
  const match = /^dlv_(\d{1,15})_(\d{1,15})$/.exec(text)
  return match !== null && Number(match[1]) === webhook ? Number(match[2]) : undefined
}
