/* Takes an abstract name, and says so. Argument: the name. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int argc, char **argv) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int door = socket(AF_UNIX, SOCK_STREAM, 0);
    if (argc < 2)
        return 2;
    strncpy(address.sun_path + 1, argv[1], sizeof address.sun_path - 2);
    socklen_t len = offsetof(struct sockaddr_un, sun_path) + 1 + strlen(argv[1]);
    if (bind(door, (struct sockaddr *)&address, len) || listen(door, 1))
        return 1;
    puts("taken");
    fflush(stdout);
    pause();
    return 0;
}
