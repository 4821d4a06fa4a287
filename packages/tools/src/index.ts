export { InspanError } from '@inspan/protocol'
