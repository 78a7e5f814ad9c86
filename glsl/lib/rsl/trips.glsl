// Loop trips inside of texture lookups. CPU drivers end all loops of an invocation silently after 65,535, so loops of
// programs that contain lookups count these trips with their own.

// Since the program began, or rsl_take_trips() was called.
uint rsl_trips;

uint rsl_take_trips() {
    uint trips = rsl_trips;
    rsl_trips = 0u;
    return trips;
}
