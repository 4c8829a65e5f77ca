export { type ApnsEmulator, type ApnsPush, startApnsEmulator } from './apns.ts'
export { type FcmEmulator, type FcmPush, startFcmEmulator } from './fcm.ts'
export { type EngineCall, type ModerationEmulator, startModerationEmulator } from './moderation.ts'
export { type EmulatedSubscription, startWebPushEmulator, type WebPushEmulator } from './web-push.ts'
